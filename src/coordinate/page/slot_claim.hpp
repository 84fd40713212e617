#pragma once

#include <algorithm>

#include "coordinate/page/page.hpp"
#include "coordinate/page/phase_targets.hpp"
#include "coordinate/page/process_life.hpp"
#include "coordinate/page/rounds.hpp"

namespace halcyon::coordinate {

/// The place that the process `owner` has taken before; null: none. It may lie above places that are free by now.
inline process_slot* find_slot(page& shared, uint64_t owner) {
    const uint32_t tried = std::min<uint32_t>(shared.tried.load(), page::most_processes);
    for (uint32_t i = 0; i < tried; ++i)
        if (shared.slots[i].owner.load(std::memory_order_acquire) == owner) return &shared.slots[i];
    return nullptr;
}

/// Takes a place for the process `owner` (process_slot::owner_of); null, and counted: all are taken. May be called
/// inside applications, and several times by one process that forgot its place in between: it then finds the same.
/// Not for two threads of one process at once.
///
/// A process killed at any step leaves a page that others can use: before the compare-and-swap it has changed `tried`
/// at most, which only says how far to look; after it, the agent finds that the owner is dead.
inline process_slot* claim_slot(page& shared, uint64_t owner) {
    if (process_slot* const own = find_slot(shared, owner); own != nullptr) return own;
    for (uint32_t i = 0; i < page::most_processes; ++i) {
        process_slot& one = shared.slots[i];
        uint64_t before = one.owner.load(std::memory_order_acquire);
        if (before != 0) continue;
        uint32_t tried = shared.tried.load(std::memory_order_relaxed);
        while (tried <= i && !shared.tried.compare_exchange_weak(tried, i + 1)) {
        }
        if (one.owner.compare_exchange_strong(before, owner, std::memory_order_acq_rel)) return &one;
    }
    shared.refused.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
}

/// What a program left in a place of its process, which has become another program in the middle of calls or of a turn.
inline void forget_program_before(process_slot& slot, size_t file_system) {
    process_part& part = slot.at[file_system];
    part.under_way = part.waiting = 0;
    part.inside = rounds::none;
    program_turns::part& before = slot.by_itself.at[file_system];
    before.held = before.forecasts = before.asking = before.blocked = 0;
    phase_targets(slot.targets[file_system]).forget(part.moved + part.unasked);
}

/// The program that the process runs now counts in its place, from which what was left there is gone. The program
/// before may have had a layer that this one lacks.
inline void note_program(process_slot& slot) {
    const uint64_t runs = life_of_process(process_slot::pid_of(slot.owner.load(std::memory_order_relaxed))).program;
    if (slot.by_itself.program.load() != runs) slot.by_itself.layer.store(0);
    slot.by_itself.program.store(runs, std::memory_order_release);
}

}  // namespace halcyon::coordinate
