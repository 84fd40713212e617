#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "policy/forecast.hpp"

namespace halcyon::predict {

/// Relative error of a size, Dorier 2014, equation 7.2. `observed` > 0.
[[nodiscard]] inline double size_error(int64_t predicted, int64_t observed) {
    return std::abs(static_cast<double>(predicted) - static_cast<double>(observed)) / static_cast<double>(observed);
}

/// Bytes of a file from `begin` up to `end`; empty where nothing is transferred.
struct segment {
    uint32_t file = 0;
    int64_t begin = 0;
    int64_t end = 0;
    [[nodiscard]] bool empty() const { return end <= begin; }
};

/// H(S|S0) of equation 7.3, as a share of 1: how much of the distance between the extrema of both the two have in
/// common; 1 when both are empty. Segments of different files have nothing in common.
[[nodiscard]] inline double hit_ratio(const segment& predicted, const segment& observed) {
    if (predicted.empty() && observed.empty()) return 1;
    if (predicted.empty() || observed.empty() || predicted.file != observed.file) return 0;
    const int64_t common = std::min(predicted.end, observed.end) - std::max(predicted.begin, observed.begin);
    const int64_t extent = std::max(predicted.end, observed.end) - std::min(predicted.begin, observed.begin);
    return common <= 0 ? 0 : static_cast<double>(common) / static_cast<double>(extent);
}

}  // namespace halcyon::predict
