#include "offload/model/unstored.hpp"

#include <algorithm>

namespace halcyon::offload {

std::string unstored_warning(const model& m) {
    if (!m.stores.empty() || m.variables.empty()) return "";
    const auto plugins =
        std::count_if(m.actions.begin(), m.actions.end(), [](const action& a) { return a.is_plugin(); });
    return "no 'stores:': the output of " + std::to_string(m.variables.size()) + " variable(s) is accepted and " +
           (plugins > 0 ? "seen by " + std::to_string(plugins) + " plugin(s), but not stored" : "dropped") +
           "; to keep it, add for example stores: {main: {path: out}}";
}

}  // namespace halcyon::offload
