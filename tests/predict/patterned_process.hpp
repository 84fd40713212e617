#pragma once

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "predict/layer/process_forecast.hpp"
#include "predict/phase_patterns.hpp"

namespace halcyon::tests {

/// A process of one thread that writes as a pattern says, and is asked at moments of each phase.
class patterned_process {
  public:
    patterned_process() : memory_(SIZE_MAX), files_(memory_), thread_({}, files_.names(), 0) {
        files_.name({1, "/out.dat", 4096, 1});
    }
    [[nodiscard]] int64_t now() const { return now_; }
    void write(uint32_t site) {
        predict::observed_call made;
        made.context = site;
        made.what = {policy::operation::write, 1, 0, 1 << 20};
        made.start_ns = now_;
        made.duration_ns = phase_pattern::call_ns;
        thread_.learn(made);
        now_ += made.duration_ns;
    }
    void pass(int64_t ns) { now_ += ns; }
    io_forecast::answer ask(int64_t later_ns = 0) {
        predict::process_forecast whole(predict::model::settings{}.least_pause_ns);
        io_forecast::answer found{};
        if (!whole.begin({0, io_forecast::not_known}, now_ + later_ns)) std::abort();
        whole.add(thread_);
        whole.finish(files_, paths_, nullptr, found);
        return found;
    }

  private:
    calls::memory_bound memory_;
    predict::file_book files_;
    calls::file_paths paths_;
    predict::thread_model thread_;
    int64_t now_ = 0;
};

/// Forecasts that were made at one moment of each phase.
struct outcome {
    /// Share of those within their bounds, where bounds were given.
    [[nodiscard]] double coverage() const { return held / said; }

    double said = 0, held = 0, width = 0, settled = 0, settled_width = 0, error = 0, deviation = 0, forecasts = 0;

    void add(const io_forecast::answer& found, int64_t came_in, bool is_settled) {
        if (found.next_phase_ns == io_forecast::not_known) return;
        ++forecasts;
        error += std::abs(static_cast<double>(found.next_phase_ns - came_in));
        deviation += static_cast<double>(found.next_phase_deviation_ns);
        if (found.next_phase_latest_ns == io_forecast::not_known) return;
        ++said;
        if (found.next_phase_earliest_ns <= came_in && came_in <= found.next_phase_latest_ns) ++held;
        const auto wide = static_cast<double>(found.next_phase_latest_ns - found.next_phase_earliest_ns);
        width += wide;
        if (!is_settled) return;
        ++settled;
        settled_width += wide;
    }
};

/// What was forecast of a pattern: at the end of each phase, after its second call, and in its pause, when that has
/// gone on for half as long as the one before it. (In the middle of a pause would tell how long it will be.)
struct pattern_outcomes {
    /// Phases until errors of a model that has just begun to learn count for nothing any more.
    static constexpr size_t learning = 100;

    outcome at_end, in_phase, in_pause;

    /// `pauses` hears of each pause between two phases.
    void run(const std::vector<patterned_phase>& all, const auto& pauses) {
        patterned_process process;
        size_t begun = 0;
        int64_t last_pause_ns = 0;
        for (size_t i = 0; i + 1 < all.size(); ++i) {
            if (!all[i].nested) ++begun;
            const bool is_settled = begun > learning;
            if (i > 0) process.pass(all[i].pause_ns);
            for (int64_t call = 0; call < phase_pattern::calls; ++call) {
                if (call > 0) process.pass(phase_pattern::ms);
                process.write(all[i].site);
                if (call == 1 && !all[i].nested)
                    in_phase.add(process.ask(), until_next_phase(all, i) - after_two_calls, is_settled);
            }
            const patterned_phase& next = all[i + 1];
            if (next.nested) continue;
            at_end.add(process.ask(), next.pause_ns, is_settled);
            if (const int64_t later = last_pause_ns / 2; later < next.pause_ns)
                in_pause.add(process.ask(later), next.pause_ns - later, is_settled);
            last_pause_ns = next.pause_ns;
            pauses(next);
        }
    }

  private:
    static constexpr int64_t after_two_calls = 2 * phase_pattern::call_ns + phase_pattern::ms;

    /// From the begin of burst `i`.
    static int64_t until_next_phase(const std::vector<patterned_phase>& all, size_t i) {
        int64_t time = 0;
        do {
            time += phase_pattern::burst_ns;
            if (++i == all.size()) break;
            time += all[i].pause_ns;
        } while (all[i].nested);
        return time;
    }
};

}  // namespace halcyon::tests
