#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "coordinate/coordinator/coordinator.hpp"
#include "coordinate/estimates/recent_mean.hpp"

namespace halcyon::coordinate {

/// An application that computes, does I/O, and computes again.
struct simulated {
    std::string name;
    uint32_t user = 1000;
    double alone_s = 1;           ///< duration of a phase without others
    double computes_s = 10;       ///< between phases, on average
    double said = 1;              ///< times what is true is what it forecasts
    bool never_ends = false;      ///< says all the time that it has 0.1 s left
    double told_speed = 0;        ///< relative to alone; 0: what is true
    bool stalls = false;          ///< never moves anything
    bool says_calls = false;      ///< that one of its calls is under way, also where it moves nothing
    bool invents_leases = false;  ///< shows one whenever it asks
    bool moves_unasked = false;   ///< tells of a byte that it moved out of turn, as often as it tells anything
    double between_s = 0;         ///< that it says to be between the starts of its phases; 0: what is true
};

/// Applications with one agent each at a storage whose bandwidth they share equally, coordinated by a real coordinator.
class simulated_storage {
  public:
    simulated_storage(const settings& how, const std::vector<simulated>& all, uint64_t seed);

    void run(double seconds);
    /// Mean over its phases of duration over duration alone.
    [[nodiscard]] double slow_down(const std::string& name) const;
    /// Mean over all applications that tell the truth.
    [[nodiscard]] double honest_slow_down() const;
    [[nodiscard]] const coordinator& told() const { return told_; }

  private:
    struct running {
        simulated what;
        connection_id connection = 0;
        std::mt19937_64 random;  ///< of its own: others do not change what it does
        double next_s = 0;       ///< begin of its next phase
        uint64_t phase = 0;
        bool in_phase = false;
        bool may_move = false;
        uint64_t lease = 0;
        double begun_s = -1;
        recent_mean between;  ///< starts of its phases
        double left_s = 0;
        double moved_s = 0;  ///< since the last report
        double slow_downs = 0;
        int phases = 0;
    };
    void hear(running& one, const from_coordinator& message);
    void settle();
    void begin(running& one);
    void ask(running& one);
    void end(running& one);
    [[nodiscard]] double said_left_s(const running& one) const;

    coordinator told_;
    std::vector<running> all_;
    double now_s_ = 0;
};

}  // namespace halcyon::coordinate
