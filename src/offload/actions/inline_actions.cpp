#include "offload/actions/inline_actions.hpp"

#include <algorithm>

#include "offload/actions/module_plugin.hpp"

namespace halcyon::offload {

result<void> inline_actions::load(share what) {
    for (uint32_t id = 0; id < data_.actions.size(); ++id) {
        const action& a = data_.actions[id];
        if (!a.is_plugin() || (what != share::all && !a.run_inline)) continue;
        auto loaded = load_module(data_, a, where_);
        if (!loaded) return loaded.why();
        if (auto begun = (*loaded)->init(); !begun) return begun;
        plugins_[id] = *std::move(loaded);
    }
    return {};
}

bool inline_actions::any_of(const model& data, const event& e) {
    return std::any_of(e.action_ids.begin(), e.action_ids.end(),
                       [&data](uint32_t id) { return data.actions[id].run_inline; });
}

std::vector<failure> inline_actions::run(share what, const plugin_run& seen) {
    std::vector<failure> failed;
    std::vector<double> parameters;
    for (const parameter& p : data_.parameters) parameters.push_back(p.value);
    plugin_run r = seen;
    r.parameters = parameters;
    r.raise_job = [this](const std::string& name) {
        const event* other = data_.find_event(name);
        return other != nullptr && other->scope == scope::job ? 2 : 1;
    };
    for (const uint32_t id : r.of->action_ids) {
        const action& a = data_.actions[id];
        if (what == share::plugins && !a.run_inline) continue;
        if (a.type == "log") {
            log_("event '" + r.of->name + "' iteration " + std::to_string(r.iteration) +
                 (r.rank >= 0 ? " from rank " + std::to_string(r.rank) : std::string()));
        } else if (a.is_plugin()) {
            const auto loaded = plugins_.find(id);
            if (loaded == plugins_.end()) {
                failed.push_back({error_kind::unavailable,
                                  "action '" + a.name +
                                      "' is not run: it is a plugin, and the server that ran it is "
                                      "gone",
                                  0});
            } else if (auto done = loaded->second->run(r); !done) {
                failed.push_back(done.why());
            }
        }
    }
    return failed;
}

std::vector<failure> inline_actions::finalize() {
    std::vector<failure> failed;
    for (auto& [id, p] : plugins_)
        if (auto done = p->finalize(); !done) failed.push_back(done.why());
    plugins_.clear();
    return failed;
}

}  // namespace halcyon::offload
