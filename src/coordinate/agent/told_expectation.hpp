#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "coordinate/page/node_state.hpp"
#include "coordinate/protocol/messages.hpp"

namespace halcyon::coordinate {

/// What the coordinator was told of the next phase.
class told_expectation {
  public:
    /// What it has to be told, by the forecasts of the processes; none: it knows.
    std::optional<expect> news(const node_state& now, double now_s) {
        if (now.next_probability <= 0) {
            // One that is expected no more.
            if (std::exchange(told_, std::nullopt)) return expect{.in_s = 0, .probability = 0};
            return std::nullopt;
        }
        const double in_s = now_s + now.next_in_s;
        // The same phase, as expected before.
        if (told_ && std::abs(*told_ - in_s) <= 0.25 * now.next_in_s + 0.01) return std::nullopt;
        told_ = in_s;
        expect what;
        what.in_s = std::clamp(now.next_in_s, 0.0, 1e9);
        what.deviation_s = std::clamp(now.next_deviation_s, 0.0, 1e9);
        what.probability = std::clamp(now.next_probability, 0.0, 1.0);
        what.alone_s = std::clamp(now.next_alone_s, 0.0, 1e9);
        what.bytes = std::clamp<int64_t>(now.next_bytes, 0, int64_t{1} << 60U);
        return what;
    }
    /// The coordinator knows nothing, or the phase has come.
    void forget() { told_.reset(); }

  private:
    std::optional<double> told_;  ///< when it begins
};

}  // namespace halcyon::coordinate
