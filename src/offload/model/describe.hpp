#pragma once

#include <string>

#include "base/error.hpp"

namespace halcyon::offload {

/// Reads the configuration file `path` as a simulation would and says in a line what it describes. With `ranks` > 0
/// every block of every process of a run of that size is evaluated as well, and the line ends with the bytes of an
/// iteration. Failures: those of parse_model() and shape_of(); system where the file cannot be read.
[[nodiscard]] result<std::string> describe_configuration(const std::string& path, int ranks);

}  // namespace halcyon::offload
