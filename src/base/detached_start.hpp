#pragma once

#include <string>
#include <vector>

#include "base/detached_program.hpp"
#include "base/error.hpp"

/// Programs that the first process of a job starts on a node to stay behind it: servers, agents.
namespace halcyon {

/// Finds an installed program: `named` alone if it is not empty; else beside the library that holds `within`, or in the
/// bin directory of the same prefix. Failure (unavailable): the message is the list of places where it was looked for.
result<std::string> find_installed(const std::string& program, const std::string& named, const void* within);

/// The variables of this process but for those of its job (is_variable_of_job).
std::vector<std::string> environment_outside_job();

/// The value; "" where it is not set.
std::string variable_or_nothing(const char* name);

struct detached_program {
    std::string path;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;  ///< "NAME=value"
};

/// Starts a program detached from this process in every respect: own session, /dev/null as 0 to 2, no other
/// descriptors. It must call detach_from_starter() first. Returns when it says that it is ready, at the latest after
/// `patience_ms` or when `stop` (or -1) is readable.
/// Failure (unavailable): it did not come up; system_errno ECONNRESET where it was killed before it was ready.
result<void> start_detached(const detached_program& what, int patience_ms, int stop);

/// For the program: forks, so that whoever started it has no child to reap later, and takes what belongs to a program
/// that stays. `name`: as the system shows it. Ends the process where the system has no other one, and says so.
void detach_from_starter(const char* name);

/// For the program: that it is ready, or why it cannot run. Once. False: nobody hears it.
bool tell_starter(const result<void>& is_ready);

}  // namespace halcyon
