#pragma once

#include <memory>

#include "offload/actions/plugin.hpp"

namespace halcyon::offload {

/// Loads the module of an action of type module into this process. One with a '/' in its path that is relative is
/// looked for in the working directory, one without where the system looks for libraries. Failure (config): not found,
/// without that plugin, or built against another ABI of halcyon/action.h.
result<std::unique_ptr<plugin>> load_module(const model& data, const action& a, plugin_place where);

}  // namespace halcyon::offload
