#pragma once

#include <string>

#include "base/error.hpp"
#include "logfs/background/pace.hpp"
#include "logfs/container/tools/bring.hpp"
#include "logfs/container/tools/flatten.hpp"

/// What is done with whole containers, as fast as a pace says and in its turn: that of the file system to which the
/// bytes go. Paths are absolute. `how` is that of the tool, whose before_write is taken.
namespace halcyon::logfs {

result<flatten_report> flatten_paced(container& from, const std::string& target, flatten_options how, pace& by);
result<bring_report> bring_paced(container& into, bring_options how, pace& by);

}  // namespace halcyon::logfs
