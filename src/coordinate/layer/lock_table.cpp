#include "coordinate/layer/lock_table.hpp"

#include <algorithm>
#include <utility>

#include "calls/record/call_table.hpp"
#include "calls/state/direct_call.hpp"
#include "coordinate/page/held_locks.hpp"

namespace halcyon::coordinate {
using calls::call_id;

lock_table::entry lock_table::of(const calls::call_record& record, int descriptor) {
    const auto function = static_cast<call_id>(record.function);
    const bool whole = function == call_id::flock || function == call_id::flock_unlock;
    return {true,
            whole,
            false,
            false,
            record.file,
            descriptor,
            whole || record.offset == calls::none ? 0 : record.offset,
            whole || record.bytes == calls::none ? 0 : record.bytes};
}

bool lock_table::covers(const entry& range, const entry& lock) {
    if (range.whole != lock.whole || range.file != lock.file) return false;
    if (range.whole) return range.descriptor == lock.descriptor;
    if (range.begin == lock.begin && range.bytes == lock.bytes) return true;
    // Lengths below 0 lie before the begin; what is not the same is left alone.
    if (range.bytes < 0 || lock.bytes < 0 || range.begin > lock.begin) return false;
    return range.bytes == 0 || (lock.bytes > 0 && lock.begin - range.begin <= range.bytes - lock.bytes);
}

/// The parent's locks of fcntl do not.
bool lock_table::belongs_to_child(entry& lock) {
    if (!lock.used || lock.descriptor < 0) return lock.used;
    const bool shown = held_locks::has_description_lock(calls::direct::process_id(), lock.descriptor);
    if (lock.whole) return shown || !lock.shown;  // the parent may have given it back meanwhile
    lock.shown = shown;
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = lock.begin;
    range.l_len = lock.bytes;
    constexpr int of_description = -1;  // instead of a process that holds it
    if (calls::direct::call(SYS_fcntl, lock.descriptor, F_GETLK, calls::direct::address(&range)) < 0) return true;
    return range.l_type != F_UNLCK && range.l_pid == of_description;
}

void lock_table::inherit(entry& lock) {
    lock.inherited = true;
    shared_->inherited_locks.fetch_add(1);
    shared_->locks.fetch_add(1);
    for (auto& from : shared_->inherited_from) {
        const int32_t noted = from.load();
        if (!lock.shown || lock.descriptor < 0) break;
        if (noted < 0 || noted == lock.descriptor + 1) return;
        if (noted == 0) return from.store(lock.descriptor + 1);
    }
    shared_->inherited_from[0].store(-1);
}

void lock_table::start(process_slot& shared) {
    const bool is_new_program = std::exchange(shared_, &shared) == nullptr;
    const bool left = is_new_program && shared.locks.load() != 0 && are_left_by_program_before();
    const bool lost = std::exchange(beyond_, false) || left;
    const bool torn = held_.after_fork();  // another thread of the parent was at it
    for (entry& one : entries_) {
        if (belongs_to_child(one))
            inherit(one);
        else
            one = {};
    }
    if (lost || torn) lose_count();
}

/// It called exec. Its locks by descriptors that it left open are still there, and nobody knows of which files.
bool lock_table::are_left_by_program_before() {
    shared_->locks.store(0);
    shared_->inherited_locks.store(0);
    shared_->inherited_gone.store(0);
    for (auto& from : shared_->inherited_from) from.store(0);
    return held_locks::survive_exec();
}

void lock_table::lose_count() {
    if (beyond_) return;
    beyond_ = true;
    shared_->locks.fetch_add(1);
}

void lock_table::taken(const calls::call_record& record, int descriptor) {
    entry added = of(record, descriptor);
    if (added.whole) added.shown = held_locks::has_description_lock(calls::direct::process_id(), descriptor);
    const calls::patient_lock::guard here(held_);
    if (!here) return lose_count();
    auto* const known = std::find_if(entries_.begin(), entries_.end(), [&](const entry& one) {
        return one.used && one.whole == added.whole && one.file == added.file && one.descriptor == descriptor &&
               one.begin == added.begin && one.bytes == added.bytes;
    });
    if (known != entries_.end()) {
        if (std::exchange(known->inherited, false)) shared_->inherited_locks.fetch_sub(1);
        return;
    }
    auto* const free = std::find_if(entries_.begin(), entries_.end(), [](const entry& one) { return !one.used; });
    if (free == entries_.end()) return lose_count();
    *free = added;
    shared_->locks.fetch_add(1);
}

/// Of flock: no lock was taken by this descriptor, and of the duplicated ones on the file there is one, which it is.
bool lock_table::is_by_a_duplicate(const entry& range) {
    const calls::patient_lock::guard here(held_);
    if (!here) return false;
    const auto locks_by = [&](int descriptor) {
        return std::count_if(entries_.begin(), entries_.end(), [&](const entry& one) {
            return one.used && one.whole && one.file == range.file && one.descriptor == descriptor;
        });
    };
    return locks_by(range.descriptor) == 0 && locks_by(-1) == 1;
}

template <class Which>
void lock_table::remove(Which which) {
    const calls::patient_lock::guard here(held_);
    if (!here) return;
    for (entry& one : entries_) {
        if (!one.used || !which(one)) continue;
        one.used = false;
        shared_->locks.fetch_sub(1);
        if (one.inherited) shared_->inherited_locks.fetch_sub(1);
    }
}

void lock_table::given_back(const calls::call_record& record, int descriptor) {
    entry range = of(record, descriptor);
    if (range.whole && is_by_a_duplicate(range)) range.descriptor = -1;
    remove([&](const entry& one) { return covers(range, one); });
}

void lock_table::closed(int descriptor) {
    if (shared_->locks.load(std::memory_order_relaxed) == 0) return;
    remove([&](const entry& one) { return one.descriptor == descriptor; });
}

void lock_table::duplicated(int descriptor) {
    if (shared_->locks.load(std::memory_order_relaxed) == 0) return;
    const calls::patient_lock::guard here(held_);
    if (!here) return lose_count();
    for (entry& one : entries_) {
        if (!one.used || one.descriptor != descriptor) continue;
        one.descriptor = -1;
        if (one.inherited) shared_->inherited_from[0].store(-1);
    }
}

}  // namespace halcyon::coordinate
