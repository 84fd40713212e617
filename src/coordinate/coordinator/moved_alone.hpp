#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "coordinate/coordinator/mean_speed.hpp"

namespace halcyon::coordinate {

/// Of applications that had the storage for themselves: their speed, and how large they were, since a larger one may be
/// faster. 0: nobody moved alone yet.
///
/// The mean is that of the last seconds, so a slow one that goes on for long brings it down. The fastest of the latest
/// applications stands until as many others as are kept have moved alone.
class moved_alone {
  public:
    /// So long an application must have moved alone until its speed alone is known.
    static constexpr double known_after_s = 0.5;

    void add(uint64_t id, double bytes_per_s, int64_t processes, int64_t nodes, double seconds) {
        speed_.add(bytes_per_s * seconds, seconds);
        processes_.add(static_cast<double>(processes) * seconds, seconds);
        nodes_.add(static_cast<double>(nodes) * seconds, seconds);
        auto at = std::ranges::find(latest_, id, &one::id);
        if (at == latest_.end()) at = latest_.end() - 1;  // the one that moved alone longest ago
        const mean_speed before = at->id == id ? at->speed : mean_speed{10};
        std::ranges::rotate(latest_.begin(), at, at + 1);
        one& its = latest_.front();
        its = {id, before, processes, nodes};
        its.speed.add(bytes_per_s * seconds, seconds);
        if (is_known(its)) most_bytes_per_s_ = std::max(most_bytes_per_s_, its.speed.bytes_per_s());
    }
    // Of the last seconds.
    [[nodiscard]] double bytes_per_s() const { return speed_.bytes_per_s(); }
    [[nodiscard]] double processes() const { return processes_.mean(); }
    [[nodiscard]] double nodes() const { return nodes_.mean(); }
    /// Of all applications, ever.
    [[nodiscard]] double most_bytes_per_s() const { return most_bytes_per_s_; }

    /// Of the latest applications, each by its own last seconds; one that is larger than one of them may take as many
    /// times what that one did.
    [[nodiscard]] double fastest(int64_t processes, int64_t nodes) const {
        double found = 0;
        for (const one& each : latest_) {
            if (!is_known(each)) continue;
            const double larger = std::max({1.0, over(processes, each.processes), over(nodes, each.nodes)});
            found = std::max(found, each.speed.bytes_per_s() * larger);
        }
        return found;
    }
    /// Of what one application tells, for all others: not much more than was learnt of it before, or of others. A
    /// faster storage is learnt within some ten seconds for each factor of ten; one false report changes little.
    [[nodiscard]] double believed(uint64_t id, double bytes_per_s) const {
        constexpr double most_growth = 4;
        const double before = std::max(speed_.bytes_per_s(), fastest_but(id));
        return before > 0 ? std::min(bytes_per_s, most_growth * before) : bytes_per_s;
    }

  private:
    [[nodiscard]] double fastest_but(uint64_t id) const {
        double found = 0;
        for (const one& each : latest_)
            if (each.id != id && is_known(each)) found = std::max(found, each.speed.bytes_per_s());
        return found;
    }
    struct one {
        uint64_t id = 0;
        mean_speed speed{10};
        int64_t processes = 1;
        int64_t nodes = 1;
    };
    static bool is_known(const one& each) { return each.speed.seconds() >= known_after_s; }
    static double over(int64_t own, int64_t others) { return static_cast<double>(own) / static_cast<double>(others); }
    mean_speed speed_{10};
    fading_mean processes_{10}, nodes_{10};
    double most_bytes_per_s_ = 0;
    std::array<one, 8> latest_;  ///< the latest first
};

}  // namespace halcyon::coordinate
