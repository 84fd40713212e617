#include "calls/backends/mounts.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "calls/backends/backend_files.hpp"
#include "calls/backends/mounted_path.hpp"
#include "calls/state/blocked_signals.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls::backends {

constinit presence_page this_presence{};

namespace {

constinit mount_point mounts[most_mounts] = {};
constinit size_t mount_count = 0;
constinit std::atomic<bool> started{false};  // outlives fork
constinit std::atomic<int> starter{0};       // thread that decides; 0: none

/// Whether this thread is to decide which backends answer. Not where that is decided, nor a handler of a signal in the
/// very thread that decides: it goes to the kernel. So do, when a program begins, its other threads: one may hold a
/// lock of the dynamic linker that who decides waits for. In a child of fork they wait: they may have backends' files.
bool decides_here() {
    const int own = direct::thread_id();
    for (int tries = 0;; ++tries) {
        int other = 0;
        if (starter.compare_exchange_strong(other, own)) break;
        if (other == own || !started.load(std::memory_order_acquire)) return false;
        // A thread that only the parent has, which forked in another.
        if (direct::has_ended(other) && starter.compare_exchange_strong(other, own)) break;
        direct::wait_a_little(tries);
    }
    if (this_presence.now.load(std::memory_order_acquire) == presence::not_asked) return true;
    starter.store(0);
    return false;
}

/// The backend knows from now on that this process has them, whoever removes their names: those that shells give.
void hold_inherited() {
    constexpr int most_of_shells = 9;
    for (int fd = 0; fd <= most_of_shells; ++fd) static_cast<void>(owner_of(fd));
}

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
    if (!decides_here()) return this_presence.now.load(std::memory_order_acquire) == presence::some;
    const blocked_signals whole;
    const bool is_new_program = !started.load(std::memory_order_relaxed);
    if (!is_new_program) {  // in a child of fork
        for (const mount_point& at : mounted()) at.of->after_fork();
        look_again_at_standard_descriptors();
    } else {
        if (!can_start_layers()) {
            starter.store(0);
            return false;
        }
        start_backends();
        inherit_working_directory(getenv(working_directory_variable));
        if (mount_count > 0) answer_streams();
        started.store(true, std::memory_order_release);
    }
    const bool some = mount_count > 0;
    if (some) direct::call(SYS_madvise, direct::address(&this_presence), sizeof this_presence, MADV_WIPEONFORK);
    this_presence.now.store(some ? presence::some : presence::none, std::memory_order_release);
    starter.store(0);
    if (some && is_new_program) hold_inherited();
    return some;
}

void before_exec() {
    if (!present() || shares_memory_with_parent()) return;
    for (const mount_point& at : mounted()) at.of->before_exec();
}

/// A program that has not used its backends yet has nothing to tell them. A child of fork has open what its parent had,
/// which may have ended before.
void before_end() {
    const presence now = this_presence.now.load(std::memory_order_acquire);
    const bool is_forked = now == presence::not_asked && mount_count > 0 && started.load(std::memory_order_acquire);
    if ((now != presence::some && !is_forked) || shares_memory_with_parent() || !present()) return;
    for (const mount_point& at : mounted()) at.of->before_end();
}

/// In a child of vfork they are its parent's, too.
void calls_left() {
    if (this_presence.now.load(std::memory_order_relaxed) != presence::some) return;
    for (const mount_point& at : mounted()) at.of->calls_left();
}

void before_fork() {
    if (!present() || shares_memory_with_parent()) return;
    for (const mount_point& at : mounted()) at.of->before_fork();
}

void keep_still() {
    if (!present() || shares_memory_with_parent()) return;
    for (const mount_point& at : mounted()) at.of->keep_still();
}

void go_on() {
    if (this_presence.now.load(std::memory_order_relaxed) != presence::some || shares_memory_with_parent()) return;
    for (const mount_point& at : mounted()) at.of->go_on();
}

}  // namespace halcyon::calls::backends
