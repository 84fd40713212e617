#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "offload/actions/plugin.hpp"

namespace halcyon::offload {

/// Runs actions in the calling process: those of a whole run with `inline: true`, or the plugins with `inline: true`
/// alone. Used by one thread at a time.
class inline_actions {
  public:
    enum class share {
        all,         ///< there never was a server
        plugins,     ///< with `inline: true`: a server runs the others
        serverless,  ///< the last server is gone: plugins that it ran are not run here
    };
    inline_actions(const model& data, plugin_place where, std::function<void(const std::string&)> log)
        : data_(data), where_(std::move(where)), log_(std::move(log)) {}

    /// Loads and starts those that are this process's. Failure (config): as load_module(); usage: it could not start.
    result<void> load(share what);
    /// Whether this process runs an action of `e` while there is a server.
    [[nodiscard]] static bool any_of(const model& data, const event& e);
    /// Runs the actions of an event but those of type store, which the caller does; parameters are those of the model
    /// now. One failure for each that failed; the others ran all the same.
    std::vector<failure> run(share what, const plugin_run& seen);
    /// After the last run.
    std::vector<failure> finalize();

  private:
    const model& data_;
    plugin_place where_;
    std::function<void(const std::string&)> log_;
    std::map<uint32_t, std::unique_ptr<plugin>> plugins_;  ///< by number of the action
};

}  // namespace halcyon::offload
