#include "coordinate/gate/gate_layer.hpp"

#include <stdio.h>

#include <algorithm>
#include <ctime>

#include "base/clock.hpp"
#include "calls/clocks/node_clock.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/known_files.hpp"
#include "calls/state/process_state.hpp"
#include "coordinate/page/lies_below.hpp"

namespace halcyon::coordinate {
namespace direct = calls::direct;
using calls::kind;
using calls::level;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
/// Between looks whether the time of opening is known. It is told long before it comes.
constexpr int64_t look_ns = 2'000'000;

void sleep_until(int64_t at_ns) {
    const timespec until{at_ns / 1'000'000'000, at_ns % 1'000'000'000};
    direct::call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, direct::address(&until), 0);
}

/// Keeps the first of all times, whichever process is faster.
void note_first(std::atomic<int64_t>& first_ns, int64_t ns) {
    int64_t before = first_ns.load();
    while ((before == 0 || ns < before) && !first_ns.compare_exchange_weak(before, ns)) {
    }
}

void note_last(std::atomic<int64_t>& last_ns, int64_t ns) {
    int64_t before = last_ns.load();
    while (before < ns && !last_ns.compare_exchange_weak(before, ns)) {
    }
}

}  // namespace

bool gate_layer::start(const settings& wanted, char* complaint, size_t complaint_bytes) {
    is_open_ = true;
    has_arrived_ = false;
    for (auto& word : watched_) word.store(0, relaxed);
    char file[longest_path];
    if (wanted.file.empty() || wanted.file.size() >= sizeof file || wanted.below.size() >= sizeof below_) {
        snprintf(complaint, complaint_bytes,
                 "I/O is not held: HALCYON_GATE or HALCYON_GATE_PATH is missing or too long");
        return false;
    }
    std::memcpy(file, wanted.file.data(), wanted.file.size());
    file[wanted.file.size()] = '\0';
    std::memcpy(below_, wanted.below.data(), wanted.below.size());
    below_bytes_ = wanted.below.size();
    while (below_bytes_ > 1 && below_[below_bytes_ - 1] == '/') --below_bytes_;
    if (page_ == nullptr && !map(file, complaint, complaint_bytes)) return false;
    is_open_ = false;
    return true;
}

bool gate_layer::map(const char* file, char* complaint, size_t complaint_bytes) {
    const int fd = direct::open(file, O_RDWR | O_CLOEXEC);
    struct stat about {};
    const bool is_whole = fd >= 0 && direct::call(SYS_fstat, fd, direct::address(&about)) == 0 &&
                          about.st_size >= static_cast<int64_t>(sizeof(gate_page));
    const long at =
        is_whole ? direct::call(SYS_mmap, 0, sizeof(gate_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : -1;
    if (fd >= 0) direct::close(fd);
    const char* why = "it cannot be opened, or is no gate";
    if (at > 0) {
        auto* const found = reinterpret_cast<gate_page*>(at);
        char clock[sizeof found->clock];
        calls::node_clock_name(clock, sizeof clock);
        const bool fits = found->magic == gate_page::expected_magic && found->bytes == sizeof(gate_page);
        if (fits && std::strncmp(found->clock, clock, sizeof clock) == 0) {
            page_ = found;
            return true;
        }
        if (fits) why = "it is of another machine, or of another time namespace";
        direct::call(SYS_munmap, at, sizeof(gate_page));
    }
    snprintf(complaint, complaint_bytes, "I/O is not held at the gate %s: %s", file, why);
    return false;
}

void gate_layer::on_file(const calls::named_file& file) {
    if (is_open_.load(relaxed)) return;
    const bool is_below = below_bytes_ == 0 || lies_below(file.path, {below_, below_bytes_});
    const uint64_t bit = uint64_t{1} << (file.id % 64);
    std::atomic<uint64_t>& word = watched_[file.id % files / 64];
    if (is_below)
        word.fetch_or(bit, relaxed);
    else
        word.fetch_and(~bit, relaxed);
}

bool gate_layer::is_watched(uint32_t file) const {
    if (file == calls::known_files::unknown || file == calls::known_files::ignored) return false;
    return (watched_[file % files / 64].load(relaxed) >> (file % 64) & 1U) != 0;
}

bool gate_layer::counts_before(const calls::call_record& record, const calls::next_call& next) const {
    const bool from_watched = calls::entry_of(record.function).does == kind::copy && below_bytes_ != 0 &&
                              is_watched(static_cast<uint32_t>(record.argument));
    if (!is_watched(record.file) && !from_watched) return false;
    const kind does = calls::entry_of(record.function).does;
    if (does == kind::read && below_bytes_ == 0) return false;
    switch (role_of(static_cast<calls::call_id>(record.function))) {
        case call_role::transfer:
            return next.circumstances(record).may_block;
        case call_role::stream:
            return next.circumstances(record).transfers != calls::expected::no;
        case call_role::metadata:
            return does == kind::namespace_ || does == kind::resize;
        default:
            return false;
    }
}

bool gate_layer::has_created(const calls::call_record& record) const {
    const calls::function_entry& entry = calls::entry_of(record.function);
    if (entry.does != kind::open || record.error != 0 || !is_watched(record.file)) return false;
    // How streams are opened says the call of POSIX that they make, and else their first transfer.
    return entry.at == level::posix && (record.argument & (O_CREAT | O_TRUNC)) != 0;
}

[[gnu::noinline]] void gate_layer::invoke_held(calls::call_record& record, const calls::next_call& next) {
    if (counts_before(record, next)) {
        wait();
        return next(record);
    }
    next(record);
    if (has_created(record)) wait();
}

void gate_layer::wait() {
    const int64_t began_ns = monotonic_ns(), until_ns = began_ns + page_->limit_ns;
    int64_t opens_ns = page_->opens_ns.load();
    const bool is_first = !has_arrived_.exchange(true);
    if (opens_ns != 0 && began_ns >= opens_ns) {
        if (is_first) page_->late.fetch_add(1);
        is_open_ = true;
        return;
    }
    if (is_first) {
        note_first(page_->first_arrived_ns, began_ns);
        note_last(page_->last_arrived_ns, began_ns);
        page_->arrived.fetch_add(1);
    }
    calls::thread_state& thread = calls::this_thread();
    ++thread.inside;  // calls of a handler that interrupts us pass untouched
    int64_t now_ns = began_ns;
    while (!is_open_.load(relaxed) && now_ns < until_ns && (opens_ns == 0 || now_ns < opens_ns)) {
        sleep_until(std::min(until_ns, opens_ns == 0 ? now_ns + look_ns : opens_ns));
        opens_ns = page_->opens_ns.load();
        now_ns = monotonic_ns();
    }
    --thread.inside;
    if (is_first) {
        const bool in_time = opens_ns != 0 && now_ns >= opens_ns;
        (in_time ? page_->passed : page_->let).fetch_add(1);
        if (in_time) {
            note_first(page_->first_passed_ns, now_ns);
            note_last(page_->last_passed_ns, now_ns);
        }
    }
    is_open_ = true;
}

}  // namespace halcyon::coordinate
