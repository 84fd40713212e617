#include "calls/backends/mounts.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "calls/backends/mounted_path.hpp"
#include "calls/state/blocked_signals.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls::backends {

constinit presence_page this_presence{};

namespace {

constinit mount_point mounts[most_mounts] = {};
constinit size_t mount_count = 0;
constinit bool started = false;  // outlives fork

}  // namespace

std::span<const mount_point> mounted() {
    return {mounts, mount_count};
}

size_t simplified(char* path, size_t length) {
    size_t kept = 0;
    for (size_t i = 0; i < length;) {
        while (i < length && path[i] == '/') ++i;
        size_t end = i;
        while (end < length && path[end] != '/') ++end;
        const std::string_view part(path + i, end - i);
        if (part == "..") {
            while (kept > 0 && path[--kept] != '/') {
            }
        } else if (!part.empty() && part != ".") {
            path[kept++] = '/';
            std::memmove(path + kept, part.data(), part.size());
            kept += part.size();
        }
        i = end;
    }
    if (kept == 0) path[kept++] = '/';
    path[kept] = '\0';
    return kept;
}

bool mount(file_backend& backend, std::string_view prefix) {
    if (mount_count == most_mounts || prefix.size() < 2 || prefix[0] != '/' || prefix.size() >= PATH_MAX) return false;
    mount_point& added = mounts[mount_count];
    std::memcpy(added.prefix, prefix.data(), prefix.size());
    added.length = simplified(added.prefix, prefix.size());
    added.of = &backend;
    if (added.length < 2) return false;
    ++mount_count;
    return true;
}

bool ask_presence() {
    static constinit std::atomic<int> starter{0};
    const int own = direct::thread_id();
    // Whoever comes while it is decided, a handler of a signal in this very thread too, goes to the kernel.
    int nobody = 0;
    if (!starter.compare_exchange_strong(nobody, own)) return false;
    const blocked_signals whole;
    if (started) {  // in a child of fork
        for (const mount_point& at : mounted()) at.of->after_fork();
    } else {
        if (!can_start_layers()) {
            starter.store(0);
            return false;
        }
        start_backends();
        started = true;
        inherit_working_directory(getenv(working_directory_variable));
        if (mount_count > 0) answer_streams();
    }
    const bool some = mount_count > 0;
    if (some) direct::call(SYS_madvise, direct::address(&this_presence), sizeof this_presence, MADV_WIPEONFORK);
    this_presence.now.store(some ? presence::some : presence::none, std::memory_order_release);
    starter.store(0);
    return some;
}

void before_exec() {
    if (!present() || shares_memory_with_parent()) return;
    for (const mount_point& at : mounted()) at.of->before_exec();
}

void before_fork() {
    if (!present() || shares_memory_with_parent()) return;
    for (const mount_point& at : mounted()) at.of->before_fork();
}

}  // namespace halcyon::calls::backends
