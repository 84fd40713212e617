#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "coordinate/estimates/recent_mean.hpp"

namespace halcyon::coordinate {

/// What the phases of a process at a file system were like. A walk through the grammar knows patterns; where gaps
/// between calls are as irregular as pauses, it finds pauses that are none. So both say how large a phase will be, and
/// the one that was off by less lately is believed: of the phase that begins, and, before that, of the next one.
class phase_habit {
  public:
    void begins(int64_t now_ns) {
        if (began_ns_ != 0) intervals_.add(static_cast<double>(now_ns - began_ns_));
        began_ns_ = now_ns;
        now_.said = -1;
        next_.said = std::exchange(next_said_, -1);
    }
    /// At the begin of a phase, of all its bytes; and of those of the next one.
    void walk_says(int64_t bytes) { now_.said = static_cast<double>(bytes); }
    void walk_says_of_next(int64_t bytes) { next_said_ = static_cast<double>(bytes); }
    /// `took_ns`: without waits; negative: others moved meanwhile, or nobody knows.
    void ends(int64_t moved, int64_t took_ns) {
        const auto came = static_cast<double>(moved);
        if (bytes_.mean() > 0) habit_error_ += (std::abs(bytes_.mean() - came) - habit_error_) * decay;
        for (walk* const one : {&now_, &next_}) {
            if (one->said >= 0) one->error += (std::abs(one->said - came) - one->error) * decay;
        }
        bytes_.add(came);
        if (took_ns >= 0 && moved > 0) ns_per_byte_.add(static_cast<double>(took_ns) / came);
    }

    /// Nearer than the walk.
    [[nodiscard]] bool is_nearer() const { return is_known() && habit_error_ < now_.error; }
    [[nodiscard]] bool is_nearer_of_next() const { return is_known() && habit_error_ < next_.error; }
    [[nodiscard]] bool is_known() const { return bytes_.mean() > 0; }
    /// Of a phase, and from the begin of one to that of the next; 0: not known.
    [[nodiscard]] int64_t bytes() const { return static_cast<int64_t>(bytes_.mean()); }
    [[nodiscard]] int64_t interval_ns() const { return static_cast<int64_t>(intervals_.mean()); }
    /// Without others.
    [[nodiscard]] double ns_per_byte() const { return ns_per_byte_.mean(); }
    [[nodiscard]] int64_t began_ns() const { return began_ns_; }

  private:
    static constexpr double decay = 1.0 / 8;
    struct walk {
        double said = -1;  ///< negative: nothing
        double error = 0;
    };

    recent_mean bytes_, ns_per_byte_, intervals_;
    int64_t began_ns_ = 0;
    walk now_, next_;
    double next_said_ = -1;
    double habit_error_ = 0;
};

}  // namespace halcyon::coordinate
