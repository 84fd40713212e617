#pragma once

#include <initializer_list>
#include <string>

#include "base/contained.hpp"
#include "base/error.hpp"

/// How logfs.h's functions say what failed.
namespace halcyon::logfs::api {

/// For the calling thread; the code to be returned.
int report(const failure& why);
/// Likewise, where there is no memory for a message.
int report_no_memory();

/// Runs `body` so that nothing escapes the C interface.
template <class Body>
int reported(const Body& body) {
    const result<void> done = contained("", body);
    if (done) return 0;
    try {
        return report(done.why());
    } catch (...) {
        return report_no_memory();
    }
}

struct argument {
    const char* name;
    const void* value;
};

/// Failure (usage): one of them is null.
result<void> all_given(const char* call, std::initializer_list<argument> arguments);

}  // namespace halcyon::logfs::api
