#pragma once

#include <functional>
#include <memory>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "offload/actions/plugin.hpp"

namespace halcyon::insitu {

/// Makes the plugin of an action in this process: by loading its code, which is not started yet. Failure (config): it
/// cannot be loaded, and why.
using plugin_maker = std::function<result<std::unique_ptr<offload::plugin>>(
    const offload::model& data, const offload::action& a, offload::plugin_place where)>;

/// Descriptor by which a worker's program talks to its server.
inline constexpr int server_socket = 3;

/// What a worker's program does first: it ends when the server does, keeps no descriptor but the server's and standard
/// ones, and leaves the server's core to the server.
void become_worker(const char* name);

/// Runs the plugin for the server at the other end of `socket`, until that lets it go or ends. Returns the process's
/// exit status.
int run_worker(descriptor socket, const plugin_maker& make);

}  // namespace halcyon::insitu
