#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

/// Runs of programs under the text layer (text_layer.cpp), and what it wrote down.
namespace halcyon::tests {

struct recorded_call {
    unsigned thread, number, parent;
    std::string level, function, kind;
    unsigned file;
    int64_t offset, bytes, moved, result, argument;
    unsigned error;
    unsigned context;
    std::string parent_function;  ///< "?": the application's own call
    bool may_block;
    std::string transfers;  ///< "no", "yes" or "not known", as it was expected
};

struct recorded_process {
    std::vector<recorded_call> calls;  ///< in the order of their beginnings within each thread
    std::map<unsigned, std::string> files;
    std::map<unsigned, int64_t> block_bytes;   ///< of their file systems; what was told last
    std::map<unsigned, std::string> contexts;  ///< their frames
    std::multimap<std::string, std::string> facts;
    std::map<std::string, unsigned> files_of_facts;
    std::vector<std::string> absences;
    std::vector<unsigned> endings;

    [[nodiscard]] std::string fact(const std::string& key) const;
    /// Null for the application's own calls.
    [[nodiscard]] const recorded_call* parent_of(const recorded_call& call) const;
    [[nodiscard]] std::vector<const recorded_call*> children_of(const recorded_call& call) const;
    [[nodiscard]] const recorded_call* first(const std::string& function) const;
};

struct recorded_run {
    int status;  ///< of the command, as wait() has it
    std::string output;
    std::vector<recorded_process> processes;

    /// Null where no process said so.
    [[nodiscard]] const recorded_process* with_rank(int rank) const;
};

/// Runs `launcher`, then the program, recorded, with its arguments. `environment`: "NAME=value …" for the program.
/// Throws where a call names another function as its parent's than the parent does itself.
recorded_run run_recorded(const std::string& launcher, const std::string& program_and_arguments,
                          const std::string& environment = "");

}  // namespace halcyon::tests
