#include "models/interference.hpp"

#include <algorithm>
#include <cmath>

#include "models/requirement.hpp"

namespace halcyon::models {

namespace {

void require_phase(const io_phase& phase) {
    require_positive("alone_s", phase.alone_s);
    require_positive("weight", phase.weight);
    require_positive("cores", phase.cores);
    require(phase.demand > 0 && phase.demand <= 1, "demand", phase.demand, "a share above 0 up to 1");
}

struct speeds {
    double first = 1;
    double second = 1;
};

/// Relative to each alone, while both are in their phases.
speeds together(const io_phase& first, const io_phase& second) {
    if (first.demand + second.demand <= 1) return {};
    const double part = first.weight / (first.weight + second.weight);
    double rate = std::min(first.demand, part);
    const double other = std::min(second.demand, 1 - rate);
    rate = std::min(first.demand, 1 - other);
    return {rate / first.demand, other / second.demand};
}

struct durations {
    double first_s = 0;
    double second_s = 0;
};

/// `later_s` after the first, which is still in its phase, the second starts.
durations sharing(const io_phase& first, const io_phase& second, double later_s) {
    const auto [speed, other_speed] = together(first, second);
    const double left_s = first.alone_s - later_s;  // of its time alone
    const double first_takes = left_s / speed;
    const double second_takes = second.alone_s / other_speed;
    if (first_takes <= second_takes)
        return {later_s + first_takes, first_takes + (second.alone_s - first_takes * other_speed)};
    return {later_s + second_takes + (left_s - second_takes * speed), second_takes};
}

durations in_order(const io_phase& first, const io_phase& second, double later_s, arbitration way) {
    if (later_s >= first.alone_s) return {first.alone_s, second.alone_s};
    switch (way) {
        case arbitration::interfere:
            return sharing(first, second, later_s);
        case arbitration::fcfs:
            return {first.alone_s, first.alone_s - later_s + second.alone_s};
        case arbitration::interrupt:
            return {first.alone_s + second.alone_s, second.alone_s};
    }
    throw error(error_kind::usage, "no such arbitration");
}

}  // namespace

phase_times expected_times(const io_phase& a, const io_phase& b, double delta_s, arbitration way) {
    require_phase(a);
    require_phase(b);
    require(std::isfinite(delta_s), "delta_s", delta_s, "a finite time in s");
    if (delta_s >= 0) {
        const durations times = in_order(a, b, delta_s, way);
        return {times.first_s, times.second_s};
    }
    const durations times = in_order(b, a, -delta_s, way);
    return {times.second_s, times.first_s};
}

double core_seconds(const io_phase& a, const io_phase& b, double delta_s, arbitration way) {
    const phase_times times = expected_times(a, b, delta_s, way);
    return a.cores * times.a_s + b.cores * times.b_s;
}

double interruption_pays_before(const io_phase& a, const io_phase& b) {
    require_phase(a);
    require_phase(b);
    return std::max(0.0, a.alone_s - b.alone_s * a.cores / b.cores);
}

}  // namespace halcyon::models
