#include "calls/state/unseen.hpp"

#include "calls/stacks/contexts.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/folder_entries.hpp"
#include "calls/state/held_signals.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls {
namespace {

constexpr std::string_view rings = "io_uring";
constexpr std::string_view requests = "requests of io_submit";
constexpr std::string_view stacks = "call stacks beyond the first 65536 of a process, but for their call sites";
constexpr std::string_view moved = "offsets in files that another process read or wrote at the same position";
constexpr std::string_view system_calls = "calls made with syscall(2)";

void tell(std::string_view subject, uint64_t count) {
    if (count > 0) this_process().layers.each([&](layer& l) { l.on_absence(subject, count); });
}

/// The first are told at once, for a process that does not live to tell how many there were.
void count(unseen_calls& calls, std::string_view subject, uint64_t more) {
    if (calls.told.load(std::memory_order_relaxed) || calls.told.exchange(true))
        calls.more.fetch_add(more, std::memory_order_relaxed);
    else
        tell(subject, more);
}

bool is_ring(int directory, const char* descriptor) {
    constexpr std::string_view name = "anon_inode:[io_uring]";
    char target[name.size() + 1];
    const long length =
        direct::call(SYS_readlinkat, directory, direct::address(descriptor), direct::address(target), sizeof target);
    return length > 0 && std::string_view(target, static_cast<size_t>(length)) == name;
}

/// Rings that are open among the first descriptors. Programs that were linked with a static liburing make them without
/// calling anybody.
uint64_t open_rings() {
    constexpr int most = 4096;
    uint64_t found = 0;
    static_cast<void>(each_entry("/proc/self/fd", most, [&](int directory, const char* descriptor) {
        if (is_ring(directory, descriptor)) ++found;
        return false;
    }));
    return found;
}

}  // namespace

namespace unseen {

constinit thread_local bool counted_apart = false;

void ring_was_made() {
    const own_work ours;
    this_process().rings.fetch_add(1, std::memory_order_relaxed);
    tell(rings, 1);
}

void requests_were_submitted(uint64_t more) {
    const own_work ours;
    count(this_process().submitted, requests, more);
}

void system_call_was_made() {
    const own_work ours;
    count(this_process().direct_calls, system_calls, 1);
}

void position_was_moved(uint64_t transfers) {
    const own_work ours;
    count(this_process().moved_by_others, moved, transfers);
}

}  // namespace unseen

void tell_end(ending how) {
    const held_signals no_harm;
    process_state& process = this_process();
    if (how == ending::exit && process.aborts.load(std::memory_order_relaxed)) how = ending::abort;
    {
        const own_work ours;
        tell("calls of signal handlers, or between vfork and exec", process.unrecorded.exchange(0));
        tell("calls that a jump left", process.left.exchange(0));
        tell(system_calls, process.direct_calls.more.exchange(0));
        tell(stacks, contexts::take_unkept());
        tell(moved, process.moved_by_others.more.exchange(0));
        tell(requests, process.submitted.more.exchange(0));
        if (process.rings.load() == 0 && (process.rings = open_rings()) > 0) tell(rings, process.rings.load());
    }
    process.layers.each([how](layer& l) { l.on_end(how); });
}

}  // namespace halcyon::calls
