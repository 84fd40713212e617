/// How well the begin of the next phase is forecast, in ten patterns of phases and pauses on a simulated clock: exact,
/// and the same on every machine. `phase_forecasts --series` prints the patterns instead, for other predictors.
#include <cmath>
#include <cstring>
#include <map>

#include "bench/figure.hpp"
#include "predict/patterned_process.hpp"

namespace {

using namespace halcyon;
using tests::patterned_phase;
using tests::phase_pattern;

constexpr size_t phases = 300;
/// None of those by which the rules were chosen.
constexpr uint64_t first_seed = 101;
constexpr uint64_t seeds = 20;

/// What simple rules say of the next pause.
class naive_pauses {
  public:
    struct expected {
        int64_t same = 0, last = 0, markov = 0;
    };
    [[nodiscard]] bool knows() const { return first_ != 0; }
    [[nodiscard]] expected next() const {
        const auto found = after_.find({before_, last_state_});
        return {first_, last_, found == after_.end() ? last_ : found->second};
    }
    void learn(int64_t pause) {
        if (first_ == 0) first_ = pause;
        after_[{before_, last_state_}] = last_ = pause;
        before_ = last_state_;
        // Pauses within some 10 % of one another are one state.
        last_state_ = static_cast<int>(std::lround(std::log(static_cast<double>(pause)) * 10));
    }

  private:
    std::map<std::pair<int, int>, int64_t> after_;
    int64_t first_ = 0, last_ = 0;
    int before_ = 0, last_state_ = 0;
};

/// Errors of the simple rules, and how wide the pauses of a pattern scatter.
struct measured {
    tests::pattern_outcomes own;
    double range = 0, same = 0, last = 0, markov = 0, pauses = 0;

    void run(const std::string& name, uint64_t seed) {
        naive_pauses naive;
        own.run(phase_pattern::made(name, phases, seed), [&](const patterned_phase& next) {
            if (naive.knows()) {
                const auto said = naive.next();
                same += std::abs(static_cast<double>(said.same - next.pause_ns));
                last += std::abs(static_cast<double>(said.last - next.pause_ns));
                markov += std::abs(static_cast<double>(said.markov - next.pause_ns));
                range += next.range_ns;
                ++pauses;
            }
            naive.learn(next.pause_ns);
        });
    }
};

void show(const std::string& figure, double value, const char* unit) {
    std::printf(HALCYON_BENCH_ROOM ".%s %.6g %s\n", figure.c_str(), value, unit);
}

void print_series() {
    for (const std::string& name : phase_pattern::names()) {
        std::printf("%s", name.c_str());
        for (const patterned_phase& one : phase_pattern::made(name, phases, first_seed))
            std::printf(" %lld%s", static_cast<long long>(one.pause_ns), one.nested ? "n" : "");
        std::printf("\n");
    }
}

}  // namespace

int main(int count, char** words) {
    if (count > 1 && std::strcmp(words[1], "--series") == 0) return print_series(), 0;
    double covered = 0;
    for (const std::string& name : phase_pattern::names()) {
        measured found;
        for (uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) found.run(name, seed);
        const tests::outcome& end = found.own.at_end;
        show("interval_coverage_90_" + name, 100 * end.coverage(), "%");
        show("interval_coverage_90_" + name + "_in_phase", 100 * found.own.in_phase.coverage(), "%");
        show("interval_coverage_90_" + name + "_in_pause", 100 * found.own.in_pause.coverage(), "%");
        const double range = found.range / found.pauses;
        show("interval_width_over_range_" + name, end.settled_width / end.settled / range, "ratio");
        show("interval_width_over_range_" + name + "_learning_included", end.width / end.said / range, "ratio");
        show("next_phase_error_ms_" + name, end.error / end.forecasts / 1e6, "ms");
        show("next_phase_deviation_ms_" + name, end.deviation / end.forecasts / 1e6, "ms");
        show("next_phase_error_ms_" + name + "_same", found.same / found.pauses / 1e6, "ms");
        show("next_phase_error_ms_" + name + "_last_value", found.last / found.pauses / 1e6, "ms");
        show("next_phase_error_ms_" + name + "_markov_2", found.markov / found.pauses / 1e6, "ms");
        covered += 100 * end.coverage() / static_cast<double>(phase_pattern::names().size());
    }
    show("interval_coverage_90", covered, "%");
}
