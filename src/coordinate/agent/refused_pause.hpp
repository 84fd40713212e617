#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

namespace halcyon::coordinate {

/// How long an agent leaves a coordinator alone that has refused it: for the time that the coordinator names, twice as
/// long with each further refusal, up to five minutes; and each time for up to half as long again. That part is another
/// one for each agent, so that agents that were refused together do not come back together.
class refused_pause {
  public:
    static constexpr double longest_s = 300, most_spread = 0.5;

    /// `agent`: a name that no other one has. Agents of the same name pause alike.
    explicit refused_pause(std::string_view agent) : drawn_(std::hash<std::string_view>()(agent)) {}

    /// After one more refusal.
    double next(double again_s) {
        least_s_ = std::min(std::max(again_s, 2 * least_s_), longest_s);
        return least_s_ * (1 + most_spread * draw());
    }
    /// The coordinator has taken the agent.
    void over() { least_s_ = 0; }

  private:
    /// From 0 to 1. Steele, Lea and Flood 2014: SplitMix64.
    double draw() {
        uint64_t bits = drawn_ += 0x9e3779b97f4a7c15U;
        bits = (bits ^ bits >> 30U) * 0xbf58476d1ce4e5b9U;
        bits = (bits ^ bits >> 27U) * 0x94d049bb133111ebU;
        return static_cast<double>((bits ^ bits >> 31U) >> 11U) * 0x1p-53;
    }

    uint64_t drawn_;
    double least_s_ = 0;  ///< the last one; 0: not refused since it was taken
};

}  // namespace halcyon::coordinate
