#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/format/format.hpp"
#include "logfs/container/reading/index_damage.hpp"
#include "logfs/container/reading/synced_head.hpp"

namespace halcyon::logfs {

/// The valid ones of two slots, or zeros.
template <class Slot>
struct slots {
    Slot newer{};
    Slot older{};
    size_t bad_at = 0;  ///< of one that is neither valid, nor empty, nor being written; 0: none
};

template <class Slot>
size_t slot_at(uint64_t sequence) {
    static_assert(std::is_same_v<Slot, state_slot> || std::is_same_v<Slot, commit_slot>);
    return std::is_same_v<Slot, state_slot> ? state_slot_at(sequence) : commit_slot_at(sequence);
}

/// As a writer leaves the slot with this number, 0 or 1.
template <class Slot>
bool is_sound(const Slot& slot, uint64_t which, uint64_t salt) {
    return slot.sequence % 2 == which && slot.check == check_of(slot, salt);
}

template <class Slot>
slots<Slot> slots_in(const std::byte* head, uint64_t salt) {
    slots<Slot> found;
    for (uint64_t i = 0; i < 2; ++i) {
        Slot slot{};
        std::memcpy(static_cast<void*>(&slot), head + slot_at<Slot>(i), sizeof slot);
        if (slot.sequence == 0) continue;
        if (!is_sound(slot, i, salt)) {
            found.bad_at = slot_at<Slot>(i);
        } else if (slot.sequence > found.newer.sequence) {
            found.older = found.newer;
            found.newer = slot;
        } else {
            found.older = slot;
        }
    }
    return found;
}

/// The head of an index dropping, whose writer may change it all the time. What it is told of the writer is no older
/// than what had been published when read() was called.
class head_reader {
  public:
    explicit head_reader(file_calls& calls) : calls_(calls) {}

    /// All of it, or what lies behind the header where that is known. 1: there is a head; 0: not yet; -errno. `salt`:
    /// of the check sums, where the header does not say it.
    int read(int fd, uint64_t salt, bool knows_header);

    [[nodiscard]] slots<state_slot> states(uint64_t salt) const { return slots_in<state_slot>(head_, salt); }
    [[nodiscard]] slots<commit_slot> commits(uint64_t salt) const { return slots_in<commit_slot>(head_, salt); }
    [[nodiscard]] synced_head synced(uint64_t salt) const { return {head_, salt}; }
    /// What is wrong with the header at that place.
    index_damage check_header(size_t at, index_header& header) const;
    /// Nothing is there where a header, or its copy, belongs.
    [[nodiscard]] bool is_without_header(size_t at) const;

  private:
    static constexpr size_t slots_count = 4;

    int read_once(int fd, uint64_t salt, bool knows_header);
    [[nodiscard]] bool is_begun(uint64_t salt) const;
    bool is_settled(uint64_t salt, bool knows_header, bool is_first, bool& is_explained);

    file_calls& calls_;
    alignas(8) std::byte head_[block_bytes] = {};
    std::byte before_[slots_count][sizeof(state_slot)] = {};  // the slots of the last look
};

}  // namespace halcyon::logfs
