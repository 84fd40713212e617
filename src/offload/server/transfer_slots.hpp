#pragma once

#include <cstdint>

#include "base/turn.hpp"

namespace halcyon::offload {

/// The servers of a job take turns without a word between them: each divides the length of an iteration into as many
/// slots as there are servers and leaves its files until its own slot comes (Dorier 2014, section 3.3.4).
class transfer_slots final : public no_turns {
  public:
    transfer_slots(int server, int servers) : server_(server), servers_(servers) {}

    [[nodiscard]] int64_t delay_ns(int64_t iteration_ns) const override {
        return servers_ > 0 ? iteration_ns / servers_ * server_ : 0;
    }

  private:
    int64_t server_, servers_;
};

}  // namespace halcyon::offload
