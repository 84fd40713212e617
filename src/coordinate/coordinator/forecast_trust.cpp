#include "coordinate/coordinator/forecast_trust.hpp"

#include <algorithm>
#include <cmath>

namespace halcyon::coordinate {

namespace {

constexpr double most_factor = 16;
constexpr double latest_weight = 0.5;

}  // namespace

void forecast_trust::begin(double alone_s) {
    first_s_ = alone_s;
    end_s_ = -1;
    worked_s_ = 0;
    put_off_s_ = 0;
}

void forecast_trust::told(double worked_s, double left_s) {
    const double end_s = worked_s + left_s;
    const double done_s = std::max(0.0, worked_s - worked_s_);
    if (end_s_ >= 0) {
        const double later_s = end_s - end_s_;
        put_off_s_ = later_s > 0 ? put_off_s_ + later_s : std::max(0.0, put_off_s_ - std::max(done_s, -later_s));
    }
    end_s_ = end_s;
    worked_s_ = std::max(worked_s_, worked_s);
}

void forecast_trust::ended(double worked_s) {
    if (!(first_s_ > 0) || !(worked_s > 0)) return;
    const double short_by = std::clamp(worked_s / first_s_, 1.0, most_factor);
    factor_ = std::exp(std::log(factor_) * (1 - latest_weight) + std::log(short_by) * latest_weight);
}

double forecast_trust::left_s(double told_s, double worked_s) const {
    const double by_first_s = factor_ > 1 && first_s_ > 0 ? factor_ * first_s_ - worked_s : 0;
    const double doubted_s = std::max(put_off_s_, by_first_s);
    return doubted_s > 0 ? std::max(told_s, doubted_s) : told_s;
}

}  // namespace halcyon::coordinate
