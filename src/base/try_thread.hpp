#pragma once

#include <system_error>
#include <thread>
#include <utility>

namespace halcyon {

/// Starts `work` on a thread that is put into `into`, which must not be running. False: the system has none for this
/// user at present (ulimit -u, a limit of a control group), and `into` is as before.
template <class Work>
[[nodiscard]] bool try_thread(std::thread& into, Work&& work) {
    try {
        into = std::thread(std::forward<Work>(work));
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

}  // namespace halcyon
