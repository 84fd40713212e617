#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "calls/backends/file_backend.hpp"

/// Which backends answer in this process (file_backend.hpp), and for which paths.
namespace halcyon::calls::backends {

inline constexpr int most_mounts = 4;

/// Decides which backends answer in this process: calls mount() for each. Given by the library that is built from this
/// room, called once in a program, in the thread that made its first call; must obey the rules of layer.
void start_backends();

/// From now on, streams of the C library reach files of backends (wrappers/stdio/stream_slots.hpp). Given by the same
/// library, called once in a program that has backends, when they have started. Where there are no wrappers, it does
/// nothing.
void answer_streams();

/// All paths under `prefix` (absolute, as realpath gives it) and what is opened there are the backend's from now on.
/// For start_backends() alone. False: there are too many, or the prefix is not absolute or too long.
bool mount(file_backend& backend, std::string_view prefix);

/// What becomes of calls in this process; in pages that the kernel empties in a child of fork.
enum class presence : uint32_t { not_asked = 0, none, some };
struct alignas(65536) presence_page {
    std::byte apart[15 * 64];  ///< from what each call looks at at the begin of other pages (descriptors::table)
    std::atomic<presence> now;
    std::atomic<uint32_t> looker;  ///< thread that looks at a descriptor for the first time (backend_files); 0: none
};
extern presence_page this_presence __attribute__((visibility("hidden")));
bool ask_presence();

/// Whether this process has backends at all: without, a call costs this one question.
[[gnu::always_inline]] inline bool present() {
    const presence now = this_presence.now.load(std::memory_order_acquire);
    if (now == presence::none) [[likely]]
        return false;
    return now == presence::some ? true : ask_presence();
}

/// For the wrappers of exec, of what makes and ends processes, and of jumps.
void before_exec();
void before_end();
void before_fork();
void keep_still();
void go_on();
void calls_left();
/// Whether the calling thread is a child of vfork, which lives in its parent's memory: what it does to its descriptors
/// is not done to the parent's.
inline bool shares_memory_with_parent() {
    thread_state& thread = this_thread_state;
    if ((thread.inside & vforked) == 0) [[likely]]
        return false;
    if (!is_own_process()) return true;
    thread.inside &= ~vforked;
    return false;
}

struct mount_point {
    file_backend* of;
    size_t length;
    char prefix[PATH_MAX];
};
/// Constant once the process has asked for its backends.
[[nodiscard]] std::span<const mount_point> mounted();

/// Takes out ".", "..", "//" and a slash at the end, in place; the new length. Text alone: symbolic links are not
/// known.
size_t simplified(char* path, size_t length);

}  // namespace halcyon::calls::backends
