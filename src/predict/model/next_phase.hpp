#pragma once

#include <cstdint>

#include "policy/forecast.hpp"
#include "predict/model/site_timers.hpp"
#include "predict/tables/error_window.hpp"

namespace halcyon::predict {

/// How a phase goes on, from the end of the last call.
struct phase_course {
    int64_t rest_ns = 0;                    ///< until its last call ends
    int64_t begins_ns = policy::not_known;  ///< until the next phase begins
};

/// When the next phase begins: as a walk ahead says, or as the clocks of the call sites do that phases begin with,
/// whichever was off by less lately; and how sure that is, from how far earlier forecasts were off. Of each phase two
/// of them are compared with what came: the one at its begin, and the one at its end.
class next_phase {
  public:
    /// A phase has begun, `gap_ns` after a call. `walked`: what a walk had said at the end of that call.
    void learn(const phase_course& walked, int64_t gap_ns, int64_t start_ns);
    /// Each call, after that; `pause_ns`: longer gaps part phases.
    void learn_call(uint32_t symbol, bool is_first, int64_t pause_ns, int64_t start_ns, int64_t end_ns);
    /// What a walk says at the end of the phase's first call.
    void expect(const phase_course& walked);
    /// `elapsed_ns`: since the end of the last call.
    [[nodiscard]] policy::expected_period period(const phase_course& walked, int64_t elapsed_ns) const;

    /// For archives: what is known of phases that are over.
    template <class Self, class Archive>
    static void each_field(Self& self, Archive& archive) {
        error_window::each_field(self.at_end_, archive);
        error_window::each_field(self.at_begin_, archive);
        archive.number(self.luck_);
        archive.number(self.judged_);
    }

  private:
    [[nodiscard]] phase_course best_of(const phase_course& walked) const;
    void compare(const phase_course& walked, int64_t gap_ns);
    void judge(int64_t expected_ns, int64_t gap_ns);

    error_window at_end_;
    error_window at_begin_;
    double luck_ = 0;  // share of the last forecasts that came true, see judge()
    bool judged_ = false;
    // Mean errors, of the last 16 for the most part.
    double walk_error_ = 0;
    double timer_error_ = 0;
    site_timers timers_;
    int64_t last_end_ = 0;
    // Of the phase under way.
    phase_course begun_;
    int64_t begun_at_ = 0;
};

}  // namespace halcyon::predict
