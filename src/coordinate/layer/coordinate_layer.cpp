#include "coordinate/layer/coordinate_layer.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/utsname.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <utility>

#include "base/clock.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/held_signals.hpp"
#include "calls/state/left_calls.hpp"
#include "calls/state/process_state.hpp"
#include "calls/state/standard_error.hpp"
#include "coordinate/page/agent_ring.hpp"
#include "coordinate/page/held_locks.hpp"
#include "coordinate/page/process_facts.hpp"
#include "coordinate/page/slot_claim.hpp"

namespace halcyon::coordinate {
namespace direct = calls::direct;
using calls::kind;

namespace {

constinit thread_local own_calls own_of_thread __attribute__((tls_model("initial-exec"))) = {};

coordinate_layer* layer_of_process = nullptr;

/// Calls of a thread end with it, if it was cancelled or a jump has left them. Handlers of signals make calls, too, so
/// that nothing may be allocated: the C library does so only for later keys than these.
constexpr pthread_key_t keys_of_thread = 32;  // PTHREAD_KEY_2NDLEVEL_SIZE
pthread_key_t key_of_end = keys_of_thread;

void forget_calls_of_thread() {
    // In a child that was forked within the call, its counts are the parent's.
    if (layer_of_process != nullptr && own_of_thread.generation == calls::this_process().generation)
        layer_of_process->forget_calls(own_of_thread);
}

void notice_ends(coordinate_layer& layer) {
    layer_of_process = &layer;
    calls::tell_of_left_calls.store(forget_calls_of_thread, std::memory_order_release);
    pthread_key_t made = 0;
    if (key_of_end == keys_of_thread && pthread_key_create(&made, [](void*) { forget_calls_of_thread(); }) == 0)
        key_of_end = made;
}

own_calls& own() {
    const uint32_t generation = calls::this_process().generation;
    if (own_of_thread.generation != generation) [[unlikely]] {
        own_of_thread = {.generation = generation,
                         .inside = 0,
                         .transfers = 0,
                         .burst_at = 0,
                         .beside = 0,
                         .depth = {},
                         .waits = {}};
        if (key_of_end < keys_of_thread) pthread_setspecific(key_of_end, &own_of_thread);
    }
    return own_of_thread;
}

/// Nanoseconds of a tick, roughly: for pauses.
double measure_tick() {
    if (!calls::counter_is_steady) return 1;
    constexpr int64_t long_enough_ns = 20'000;
    const int64_t since_ns = monotonic_ns(), since = calls::ticks();
    int64_t ns = 0;
    while ((ns = monotonic_ns() - since_ns) < long_enough_ns) {
    }
    return static_cast<double>(ns) / static_cast<double>(std::max<int64_t>(calls::ticks() - since, 1));
}

operation operation_of(kind does) {
    return does == kind::read ? operation::read : operation::write;
}

int64_t known(int64_t bytes) {
    return std::max<int64_t>(bytes, 0);
}

/// Of several file systems, the one at which a call is counted.
size_t first_of(size_t at) {
    return static_cast<size_t>(std::countr_zero(file_mounts::all_of(at)));
}

/// As the kernel: `cp` asks for the largest number there is. A sync says how much of a file it concerns, and moves
/// none.
int64_t most_bytes_of(kind does) {
    return does == kind::sync ? 0 : 0x7ffff000;
}

/// Of call_role::duplicate: fcntl has many commands that do not.
bool makes_descriptor(const calls::call_record& record) {
    return record.function != static_cast<uint16_t>(calls::call_id::fcntl) || record.argument == F_DUPFD ||
           record.argument == F_DUPFD_CLOEXEC;
}

}  // namespace

bool coordinate_layer::start(const settings& wanted, char* complaint, size_t complaint_bytes) {
    shared_ = wanted.shared;
    slot_ = wanted.slot;
    if (!files_.start(*shared_)) {
        snprintf(complaint, complaint_bytes, "no memory for the files of the process: its I/O is not coordinated");
        return false;
    }
    if (!name_facts(wanted.directory)) {
        snprintf(complaint, complaint_bytes, "the folder of a run has too long a path: its I/O is not coordinated");
        return false;
    }
    for (uint16_t i = 0; i < static_cast<uint16_t>(calls::call_id::count); ++i) {
        const auto function = static_cast<calls::call_id>(i);
        const kind does = calls::entry_of(i).does;
        meanings_[i] = {role_of(function), operation_of(does), use_of(function), does == kind::copy,
                        most_bytes_of(does)};
    }
    const double ns_per_tick = measure_tick();
    asks_.start(*shared_, *slot_, files_, wanted.forecasts, wanted.forecasting);
    for (size_t i = 0; i < shared_->known_file_systems(); ++i)
        takers_[i].start(*shared_, *slot_, i, ns_per_tick, asks_);
    note_program(*slot_);
    locks_.start(*slot_);
    notice_ends(*this);
    slot_->by_itself.layer.store(1);
    told_forecasts_ = told_left_out_ = 0;
    slot_->told.store(0, std::memory_order_release);
    ring_agent(*shared_);
    return true;
}

bool coordinate_layer::name_facts(std::string_view directory) {
    facts_path_[0] = '\0';
    if (directory.empty()) return true;
    utsname node{};
    direct::call(SYS_uname, direct::address(&node));
    return process_facts::name_file(facts_path_, longest_path, directory, node.nodename, slot_->owner.load());
}

void coordinate_layer::transfer(size_t at, calls::call_record& record, const calls::next_call& next) {
    const meaning& of = meanings_[record.function];
    turn_taker* const last = last_of(at, of.what, record, next);
    if (last == nullptr) return next(record);
    take_turn(*last, of.counted(record.bytes), of.what, record, next);
}

/// Where a call leads to several file systems, it has waited at all but the one that is returned. Null: this is a child
/// that was forked meanwhile.
inline turn_taker* coordinate_layer::last_of(size_t at, operation what, calls::call_record& record,
                                             const calls::next_call& next) {
    if (file_mounts::is_one(at)) [[likely]]
        return &takers_[at];
    own_calls& mine = own();
    const uint32_t process = mine.generation;
    const uint32_t all = file_mounts::all_of(at);
    for (uint32_t rest = all & (all - 1); rest != 0 && !is_forked_since(process); rest &= rest - 1)
        takers_[static_cast<size_t>(std::countr_zero(rest))].wait_only(mine, what, record, next);
    return is_forked_since(process) ? nullptr : &takers_[first_of(at)];
}

inline void coordinate_layer::take_turn(turn_taker& at, int64_t bytes, operation what, calls::call_record& record,
                                        const calls::next_call& next) {
    own_calls& mine = own();
    const uint32_t process = mine.generation;
    passage how = passage::under_lease;
    if (!at.enter(mine, bytes, what, calls::ticks())) [[unlikely]]
        how = at.pass(mine, bytes, record, next);
    const uint32_t others = at.others_move_version();
    next(record);
    if (is_forked_since(process)) [[unlikely]]
        return;
    end_turn(at, mine, how, others, bytes, what == operation::metadata ? bytes : known(record.moved), record);
}

inline void coordinate_layer::end_turn(turn_taker& at, own_calls& mine, passage how, uint32_t others, int64_t bytes,
                                       int64_t moved, const calls::call_record& record) {
    if (others % 2 != 0 || at.others_move_version() != others || how != passage::under_lease) [[unlikely]]
        mine.beside = uint64_t{record.number} + 1;
    at.leave(mine, how, bytes, moved, record.start + record.duration);
}

inline uint64_t coordinate_layer::has_entered(size_t at, const own_calls& mine) const {
    const uint64_t beside = takers_[at].others_move_version() & beside_mask;
    return entered_bit | at << at_shift | beside << 32U | mine.generation;
}

namespace {

/// enter() has counted a call that may not begin under the lease: invoke() has to see it.
[[gnu::noinline]] uint64_t enters_not(turn_taker& taker, own_calls& mine, int64_t bytes) {
    taker.step_back(mine, bytes);
    return 0;
}

}  // namespace

/// Transfers that have a lease for all of their bytes, and calls that are none of our business.
///
/// Most calls are like the one before. These take the way down to the end, on which nothing is called that would make
/// registers be saved.
uint64_t coordinate_layer::enter(calls::call_record& record) {
    const meaning& of = meanings_[record.function];
    if (of.role != call_role::transfer) [[unlikely]]
        return of.role == call_role::none ? let_go : 0;
    const size_t at = files_.look(record.file);
    if (at == file_mounts::nowhere) return !of.copies || record.bytes == calls::none ? let_go : 0;
    own_calls& mine = own_of_thread;
    const bool is_usual = at != file_mounts::differs && mine.generation == calls::this_process().generation &&
                          record.parent == 0 && mine.inside == rounds::none && calls::counter_is_steady;
    if (!is_usual) [[unlikely]]
        return enter_unlike(record, at);
    const int64_t now = calls::ticks(), bytes = of.counted(record.bytes);
    turn_taker& taker = takers_[at];
    if (!taker.is_alike(of.what, now)) [[unlikely]]
        return enter_unlike(record, at);
    if (!taker.enter_alike(mine, bytes)) [[unlikely]]
        return enters_not(taker, mine, bytes);
    record.start = now;
    return untimed | has_entered(at, mine);
}

uint64_t coordinate_layer::enter_unlike(calls::call_record& record, size_t at) {
    own_calls& mine = own();
    if (at == file_mounts::differs || record.parent != 0 || mine.inside != rounds::none) return 0;
    const meaning& of = meanings_[record.function];
    const int64_t bytes = of.counted(record.bytes), now = calls::ticks();
    turn_taker& taker = takers_[at];
    const uint64_t how = taker.follows_closely(now) ? untimed : 0;
    if (!taker.enter(mine, bytes, of.what, now)) return enters_not(taker, mine, bytes);
    record.start = now;
    return how | has_entered(at, mine);
}

void coordinate_layer::leave(const calls::call_record& record, uint64_t entered) {
    if (is_forked_since(static_cast<uint32_t>(entered))) [[unlikely]]
        return;
    // Not by the file: it may have been named too long ago.
    turn_taker& taker = takers_[entered >> at_shift & (process_slot::most_file_systems - 1)];
    const uint64_t others = (entered >> 32U & beside_mask) | (taker.others_move_version() & ~beside_mask);
    end_turn(taker, own_of_thread, passage::under_lease, static_cast<uint32_t>(others),
             meanings_[record.function].counted(record.bytes), known(record.moved), record);
}

bool coordinate_layer::moved_beside_others(const calls::call_record& record) const {
    const meaning& of = meanings_[record.function];
    const size_t at = files_.find(record.file, of.use);
    if (at == file_mounts::nowhere) return false;
    if (of.role == call_role::transfer) return own().beside == uint64_t{record.number} + 1;
    return takers_[first_of(at)].others_move_version() % 2 != 0;
}

void coordinate_layer::invoke_other(call_role role, calls::call_record& record, const calls::next_call& next) {
    const size_t at = files_.find(record.file, meanings_[record.function].use);
    const int descriptor = calls::this_thread().descriptor;
    switch (role) {
        case call_role::transfer: {  // a copy from a file that may be coordinated into one that is not
            const size_t from = files_.find(static_cast<uint32_t>(record.argument), file_use::read);
            return from == file_mounts::nowhere ? next(record) : transfer(from, record, next);
        }
        case call_role::stream:
            return stream(at, record, next);
        case call_role::metadata:
            return metadata(record, next);
        case call_role::collective:
            return collective(at, record, next);
        case call_role::lock:
            return lock(at, record, next);
        case call_role::background:
            next(record);
            if (at != file_mounts::nowhere && record.moved > 0) takers_[first_of(at)].count(record.moved);
            return;
        case call_role::unlock:
            next(record);
            if (record.error == 0) locks_.given_back(record, descriptor);
            return;
        case call_role::close:
            next(record);
            if (calls::entry_of(record.function).at == calls::level::posix) locks_.closed(descriptor);
            return;
        case call_role::duplicate:
            next(record);
            if (record.error == 0 && makes_descriptor(record)) locks_.duplicated(descriptor);
            return;
        case call_role::none:
            return next(record);
    }
}

/// The calls of POSIX under it are told when they are over, and count the bytes, which is too late to wait for those.
/// So it asks for one byte itself: it waits where nothing is left of the lease.
void coordinate_layer::stream(size_t at, calls::call_record& record, const calls::next_call& next) {
    if (at == file_mounts::nowhere || next.circumstances(record).transfers == calls::expected::no) return next(record);
    own_calls& mine = own();
    const uint32_t process = mine.generation;
    const operation what = meanings_[record.function].what;
    turn_taker* const last = last_of(at, what, record, next);
    if (last == nullptr) return next(record);
    turn_taker& taker = *last;
    passage how = passage::under_lease;
    if (!taker.enter(mine, 1, what, calls::ticks())) how = taker.pass(mine, 1, record, next);
    if (is_forked_since(process)) return next(record);
    if (how == passage::under_lease) taker.moves_less(1);
    next(record);
    if (is_forked_since(process)) return;
    taker.leave(mine, how, 0, 0, record.start + record.duration);
}

void coordinate_layer::metadata(calls::call_record& record, const calls::next_call& next) {
    own_calls& mine = own();
    const size_t named = files_.find(record.file, file_use::name);
    const size_t at = record.file == 0 && mine.burst_at != 0 ? mine.burst_at - 1 : named;
    const bool alone = mine.inside == rounds::none && record.parent == 0;
    if (at != file_mounts::nowhere && alone && takers_[at].is_burst(calls::ticks()))
        take_turn(takers_[at], metadata_bytes, operation::metadata, record, next);
    else
        next(record);
    const bool is_made = record.function == static_cast<uint16_t>(calls::call_id::mknod) && record.error == 0;
    if (is_made && !file_mounts::is_stored_kind(static_cast<mode_t>(record.argument))) files_.leave_out(record.file);
    const size_t turned_out = files_.find(record.file, file_use::name);
    // The first open of a burst: where it led to is known only now.
    if (at == file_mounts::nowhere && turned_out != file_mounts::nowhere && alone)
        static_cast<void>(takers_[turned_out].is_burst(calls::ticks()));
    mine.burst_at = turned_out == file_mounts::nowhere ? 0 : static_cast<uint32_t>(turned_out) + 1;
}

void coordinate_layer::collective(size_t at, calls::call_record& record, const calls::next_call& next) {
    if (at == file_mounts::nowhere) return next(record);
    own_calls& mine = own();
    const uint32_t process = mine.generation;
    if (record.parent == 0) mine.inside = rounds::none;  // a jump left the one before
    turn_taker& taker = takers_[first_of(at)];
    const uint64_t outer = taker.begin_collective(mine);
    const kind does = calls::entry_of(record.function).does;
    next(record);
    if (!is_forked_since(process)) taker.end_collective(mine, outer, does == kind::read || does == kind::write);
}

void coordinate_layer::lock(size_t at, calls::call_record& record, const calls::next_call& next) {
    const int descriptor = calls::this_thread().descriptor;
    if (at != file_mounts::nowhere && !held_locks::may_hold_any(*slot_)) {
        turn_taker* const last = last_of(at, operation::write, record, next);
        if (last != nullptr) last->wait_only(own(), operation::write, record, next);
    }
    next(record);
    const bool asks = record.function == static_cast<uint16_t>(calls::call_id::lockf) && record.argument == F_TEST;
    if (record.error == 0 && !asks) locks_.taken(record, descriptor);
}

void coordinate_layer::forget_calls(own_calls& of_thread) {
    for (size_t i = 0; i < shared_->known_file_systems(); ++i) takers_[i].forget_calls(of_thread);
}

void coordinate_layer::on_absence(std::string_view, uint64_t) {}

void coordinate_layer::on_end(calls::ending how) {
    const calls::own_work ours;
    constexpr const char* names[] = {"exit", "exec", "abort"};
    const bool written = write_facts(names[static_cast<int>(how)]);
    // The agent waits for that, to tell whoever started the job that all is told.
    slot_->told.store(written ? process_slot::itself : process_slot::its_agent, std::memory_order_release);
    ring_agent(*shared_);
}

/// False: they cannot be written by this process.
[[gnu::noinline]] bool coordinate_layer::write_facts(const char* ending) {
    const uint64_t made = asks_.made(), left_out = asks_.left_out();
    slot_->forecasts.fetch_add(made - std::exchange(told_forecasts_, made));
    slot_->forecasts_left_out.fetch_add(left_out - std::exchange(told_left_out_, left_out));
    static char text[process_facts::longest_text];
    const size_t used =
        process_facts::describe(text, sizeof text, *shared_, shared_->known_file_systems(), *slot_, ending);
    if (facts_path_[0] == '\0' || used == 0) return true;
    const calls::held_signals no_harm;
    const int fd = calls::descriptors::open_out_of_the_way(facts_path_, O_WRONLY | O_CREAT | O_TRUNC);
    const long written = fd < 0 ? fd : direct::pwrite(fd, text, used, 0);
    if (fd >= 0) direct::close(fd);
    if (written == static_cast<long>(used)) return true;
    static char complaint[longest_path + 160];
    const int said = snprintf(
        complaint, sizeof complaint,
        "halcyon: %s: process of user %ld cannot say here how I/O waited: %s; its agent tries to\n", facts_path_,
        direct::call(SYS_geteuid), strerrordesc_np(written < 0 ? static_cast<int>(-written) : ENOSPC));
    calls::standard_error::say(complaint, said);
    return false;
}

}  // namespace halcyon::coordinate
