#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halcyon::slurm {

/// What `halcyon slurm prepare` says of a step that is about to start: the same as `halcyon run` would do.
struct prepared_step {
    std::string folder;                                          ///< of the run
    std::vector<std::pair<std::string, std::string>> variables;  ///< of each task
};

/// Runs `program` with these arguments and reads its answer. nullopt: it said why on standard error, or did not answer
/// in time.
std::optional<prepared_step> prepare_step(const std::string& program, const std::vector<std::string>& arguments);

/// Runs `program` until it ends.
void run_program(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace halcyon::slurm
