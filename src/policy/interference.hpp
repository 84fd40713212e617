#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/application.hpp"

namespace halcyon::policy {

/// By how much two phases slow each other down; both at least 1.
struct slow_downs {
    double first = 1;
    double second = 1;
};

/// Of storage that is shared by weights, where a demand that is smaller than its share leaves the rest to the other.
/// 1 each where the targets are disjoint.
slow_downs proportional(const application& first, const application& second);

/// Of lists as in application::targets: by one pass over both.
bool share_targets(std::span<const uint32_t> first, std::span<const uint32_t> second);
inline bool share_targets(const application& first, const application& second) {
    return share_targets(first.targets, second.targets);
}

/// How much applications slow each other down, learnt from their speeds side by side: the slow-down of i beside j is
/// its time beside j over its time alone. A pair that was never seen side by side shares proportionally.
///
/// Several side by side: the excesses add up, 1 / speed_i = 1 + sum of (slow-down_ij - 1). Observations of more than
/// two correct every pair's excess by its part of the error.
///
/// Bounded: it holds `pairs` ordered pairs (rounded up to a power of two), and forgets the one that was observed least
/// recently among those in its way. Allocates when it is made only.
class interference {
  public:
    struct settings {
        uint32_t pairs = 1U << 14U;
        /// Weight of the latest observation, once there are enough: 1/16 forgets half of the past in 11 observations.
        double forgetting = 1.0 / 16;
        /// So many observations weigh as much as the assumption of proportional shares.
        double assumed = 1;
        bool operator==(const settings&) const = default;
    };

    interference() : interference(settings{}) {}
    explicit interference(const settings& how);

    /// `one` moved beside `others` (and nobody else) at `speed`, relative to its speed alone. Ignored: a speed that is
    /// not finite or not above 0, no others. A speed above 1 counts as 1.
    void observe(const application& one, std::span<const application* const> others, double speed);
    void observe(const application& one, const application& other, double speed);
    /// Everything about it, e.g. since its job has ended.
    void forget(uint64_t id);

    [[nodiscard]] slow_downs between(const application& first, const application& second) const;
    /// Of `id` beside `other`: how often it was observed, forgotten observations included.
    [[nodiscard]] uint32_t observations(uint64_t id, uint64_t other) const;
    [[nodiscard]] bool empty() const { return used_ == 0; }

    /// One direction of a pair.
    struct pair {
        uint64_t id = 0;
        uint64_t other = 0;
        double excess = 0;  ///< slow-down - 1, observations only
        uint32_t count = 0;
        uint32_t age = 0;  ///< number of the observation in all, from 1
    };
    /// All that were observed, in no particular order.
    [[nodiscard]] std::vector<pair> pairs() const;

  private:
    [[nodiscard]] const pair* find(uint64_t id, uint64_t other) const;
    pair& place_for(uint64_t id, uint64_t other);
    [[nodiscard]] double excess(const application& one, const application& other, double assumed) const;

    settings how_;
    std::vector<pair> table_;  ///< count 0: free
    uint32_t used_ = 0;
    uint32_t clock_ = 0;
};

}  // namespace halcyon::policy
