#include "coordinate/page/held_locks.hpp"

#include <stdio.h>

#include <algorithm>
#include <string_view>

#include "calls/state/direct_call.hpp"
#include "calls/state/folder_entries.hpp"

namespace halcyon::coordinate::held_locks {
namespace direct = calls::direct;

bool has_description_lock(int pid, int fd) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, fd);
    const int about = direct::open(path, O_RDONLY | O_CLOEXEC);
    if (about < 0) return about != -ENOENT;
    char text[1024];  // the locks come early, and the first one will do
    const ssize_t bytes = direct::read(about, text, sizeof text);
    direct::close(about);
    if (bytes < 0) return true;
    const std::string_view told(text, static_cast<size_t>(bytes));
    return told.find(": FLOCK ") != std::string_view::npos || told.find(": OFDLCK ") != std::string_view::npos;
}

namespace {

/// `descriptors`: the folder fdinfo of a process.
bool shows_any(const char* descriptors) {
    bool shown = false;
    const bool asked = calls::each_entry(descriptors, -1, [&](int directory, const char* descriptor) {
        const long about = direct::call(SYS_openat, directory, direct::address(descriptor), O_RDONLY | O_CLOEXEC);
        if (about < 0) return shown = about != -ENOENT;
        char text[1024];
        const ssize_t bytes = direct::read(static_cast<int>(about), text, sizeof text);
        direct::close(static_cast<int>(about));
        shown =
            bytes < 0 || std::string_view(text, static_cast<size_t>(bytes)).find("\nlock:") != std::string_view::npos;
        return shown;
    });
    return shown || !asked;
}

}  // namespace

bool survive_exec() {
    return shows_any("/proc/self/fdinfo");
}

void look_behind_exec(process_slot& of, uint64_t gone) {
    if (of.locks.load() == 0 || of.by_itself.unlocked_program.load() == gone) return;
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/fdinfo", process_slot::pid_of(of.owner.load()));
    // By the program, and not by the number of locks: the next program may count its own at any time.
    if (!shows_any(path)) of.by_itself.unlocked_program.store(gone);
}

bool may_hold_any(process_slot& of) {
    const uint32_t locks = of.locks.load();
    if (locks == 0) return false;
    const uint64_t program = of.by_itself.program.load();
    if (program != 0 && program == of.by_itself.unlocked_program.load()) return false;
    if (locks > of.inherited_locks.load()) return true;
    if (of.inherited_gone.load() != 0) return false;
    const int pid = process_slot::pid_of(of.owner.load());
    for (const auto& from : of.inherited_from) {
        const int one = from.load();
        if (one < 0 || (one > 0 && has_description_lock(pid, one - 1))) return true;
    }
    of.inherited_gone.store(1);
    return false;
}

bool may_anybody_hold_any(page& shared) {
    const uint32_t tried = std::min<uint32_t>(shared.tried.load(), page::most_processes);
    return std::any_of(shared.slots, shared.slots + tried, [](process_slot& one) { return may_hold_any(one); });
}

}  // namespace halcyon::coordinate::held_locks
