#pragma once

#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

/// Takes a place for the process `owner` (process_slot::owner_of); null, and counted: all are taken. May be called
/// inside applications, and several times by one process that forgot its place in between: it then finds the same.
///
/// A process killed at any step leaves a page that others can use: before the compare-and-swap it has changed `tried`
/// at most, which only says how far to look; after it, the agent finds that the owner is dead.
inline process_slot* claim_slot(page& shared, uint64_t owner) {
    for (uint32_t i = 0; i < page::most_processes; ++i) {
        process_slot& one = shared.slots[i];
        uint64_t before = one.owner.load(std::memory_order_acquire);
        if (before == owner) return &one;
        if (before != 0) continue;
        uint32_t tried = shared.tried.load(std::memory_order_relaxed);
        while (tried <= i && !shared.tried.compare_exchange_weak(tried, i + 1)) {
        }
        if (one.owner.compare_exchange_strong(before, owner, std::memory_order_acq_rel)) return &one;
    }
    shared.refused.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
}

}  // namespace halcyon::coordinate
