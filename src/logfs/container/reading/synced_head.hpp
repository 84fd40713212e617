#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "logfs/container/format/format.hpp"

namespace halcyon::logfs {

/// What the head of an index dropping says of those who synced in its writer's place (writing/other_writers.hpp).
class synced_head {
  public:
    /// `head`: a block. Without one: nothing was synced so.
    synced_head() = default;
    synced_head(const std::byte* head, uint64_t salt) {
        std::memcpy(static_cast<void*>(&state_), head + synced_state_at, sizeof state_);
        synced_claim claim{};
        std::memcpy(static_cast<void*>(&claim), head + synced_claim_at, sizeof claim);
        if (state_.sequence == 0 || state_.check != check_of(state_, salt)) state_ = {};
        if (claim.check == check_of(claim, salt)) claimed_ = claim.state_sequence;
    }

    static synced_claim claim_of(const state_slot& state, uint64_t salt) {
        synced_claim made{state.sequence, 0, 0};
        made.check = check_of(made, salt);
        return made;
    }

    /// Its data are on the device. A sequence of 0: there is none.
    [[nodiscard]] const state_slot& state() const { return state_; }
    [[nodiscard]] int64_t data_bytes() const { return state_.data_bytes; }
    /// The state up to which all is on the device.
    [[nodiscard]] uint64_t claimed() const { return claimed_; }

  private:
    state_slot state_{};
    uint64_t claimed_ = 0;
};

}  // namespace halcyon::logfs
