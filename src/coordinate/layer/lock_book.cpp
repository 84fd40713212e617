#include "coordinate/layer/lock_book.hpp"

#include <algorithm>

#include "calls/record/call_table.hpp"

namespace halcyon::coordinate {
using calls::call_id;

lock_book::entry lock_book::of(const calls::call_record& record, int descriptor) {
    const auto function = static_cast<call_id>(record.function);
    const bool whole = function == call_id::flock || function == call_id::flock_unlock;
    return {true,
            whole,
            record.file,
            descriptor,
            whole || record.offset == calls::none ? 0 : record.offset,
            whole || record.bytes == calls::none ? 0 : record.bytes};
}

bool lock_book::covers(const entry& range, const entry& lock) {
    if (range.whole != lock.whole || range.file != lock.file) return false;
    if (range.whole) return range.descriptor == lock.descriptor;
    if (range.begin == lock.begin && range.bytes == lock.bytes) return true;
    // Lengths below 0 lie before the begin; what is not the same is left alone.
    if (range.bytes < 0 || lock.bytes < 0 || range.begin > lock.begin) return false;
    return range.bytes == 0 || (lock.bytes > 0 && lock.begin - range.begin <= range.bytes - lock.bytes);
}

void lock_book::lose_count() {
    if (beyond_) return;
    beyond_ = true;
    shared_->fetch_add(1);
}

void lock_book::taken(const calls::call_record& record, int descriptor) {
    const entry added = of(record, descriptor);
    const calls::patient_lock::guard here(held_);
    if (!here) return lose_count();
    const bool known = std::any_of(entries_.begin(), entries_.end(), [&](const entry& one) {
        return one.used && one.whole == added.whole && one.file == added.file && one.descriptor == descriptor &&
               one.begin == added.begin && one.bytes == added.bytes;
    });
    if (known) return;
    auto* const free = std::find_if(entries_.begin(), entries_.end(), [](const entry& one) { return !one.used; });
    if (free == entries_.end()) return lose_count();
    *free = added;
    shared_->fetch_add(1);
}

template <class Which>
void lock_book::remove(Which which) {
    const calls::patient_lock::guard here(held_);
    if (!here) return;
    for (entry& one : entries_) {
        if (!one.used || !which(one)) continue;
        one.used = false;
        shared_->fetch_sub(1);
    }
}

void lock_book::given_back(const calls::call_record& record, int descriptor) {
    const entry range = of(record, descriptor);
    remove([&](const entry& one) { return covers(range, one); });
}

void lock_book::closed(int descriptor) {
    if (shared_->load(std::memory_order_relaxed) == 0) return;
    remove([&](const entry& one) { return one.descriptor == descriptor; });
}

void lock_book::duplicated(int descriptor) {
    if (shared_->load(std::memory_order_relaxed) == 0) return;
    const calls::patient_lock::guard here(held_);
    if (!here) return lose_count();
    for (entry& one : entries_) {
        if (one.used && one.descriptor == descriptor) one.descriptor = -1;
    }
}

}  // namespace halcyon::coordinate
