#include "predict/tables/error_window.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <span>

namespace halcyon::predict {

namespace {

/// How fast the share moves: with a miss by nine tenths of it, with a hit back by one tenth.
constexpr double step = 0.0075;
constexpr double spared = 0.04;

/// A factor of two is an order.
constexpr uint32_t orders = 64;
uint8_t order_of(int64_t ns) {
    return static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(ns, 0))));
}

uint32_t distance(uint8_t one, uint8_t other) {
    return std::min<uint32_t>(std::max(one, other) - std::min(one, other), orders);
}

/// The narrowest range over `wanted` of the sorted errors.
time_range narrowest(std::span<const int64_t> sorted, size_t wanted) {
    time_range best{sorted[0], sorted[wanted - 1]};
    for (size_t i = 1; i + wanted <= sorted.size(); ++i)
        if (sorted[i + wanted - 1] - sorted[i] < best.high - best.low) best = {sorted[i], sorted[i + wanted - 1]};
    return best;
}

/// The narrowest range over `share` of the sorted errors, and three more: the narrowest of many ranges is so by luck,
/// too. Outliers that are hardly more than what may be missed make all the difference to its width and none to who
/// reads it: up to `spared` of the share are left out where the range becomes less than half as wide. Where the errors
/// are too few for all that, the range of all of them, and on either side three times as much again as they lie apart
/// on average.
time_range likely_of(std::span<const int64_t> sorted, double share) {
    const auto of_all = [&](double part) {
        return static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size() + 1)));
    };
    size_t wanted = of_all(share) + 3;
    if (wanted > sorted.size()) {
        const int64_t spread = sorted.size() == 1 ? std::abs(sorted[0]) : sorted.back() - sorted.front();
        const int64_t beyond = 3 * spread / static_cast<int64_t>(sorted.size());
        return {sorted.front() - beyond, sorted.back() + beyond};
    }
    const auto width = [](const time_range& of) { return of.high - of.low; };
    const size_t fewest = of_all(share - spared);
    const int64_t wide = 2 * width(narrowest(sorted, fewest));
    time_range found = narrowest(sorted, wanted);
    while (wanted > fewest && width(found) > wide) found = narrowest(sorted, --wanted);
    return found;
}

}  // namespace

void error_window::learn(int64_t forecast, int64_t error) {
    if (const auto said = likely(forecast); said && count_ >= enough) {
        share_ += step * (wanted_share - (said->holds(error) ? 1 : 0));
        share_ = std::clamp(share_, least_share, 1.0);
    }
    errors_[place_] = error;
    orders_[place_] = order_of(forecast);
    place_ = place_ + 1 == most ? 0 : place_ + 1;
    count_ = std::min(count_ + 1, most);
}

/// How far from an order errors have to be looked for, until there are enough of them or no more.
uint32_t error_window::widest_needed(uint8_t order) const {
    std::array<uint32_t, orders + 1> at_distance = {};
    for (uint32_t i = 0; i < count_; ++i) ++at_distance[distance(orders_[i], order)];
    uint32_t found = 0, widest = 0;
    for (uint32_t i = 0; i <= orders && found < std::min(enough, count_); ++i) found += at_distance[i], widest = i;
    return widest;
}

std::optional<time_range> error_window::likely(int64_t forecast, int64_t elapsed) const {
    std::array<int64_t, most> possible;
    const uint8_t order = order_of(forecast);
    const uint32_t widest = widest_needed(order);
    uint32_t count = 0;
    for (uint32_t i = 0; i < count_; ++i) {
        if (distance(orders_[i], order) <= widest && forecast + errors_[i] >= elapsed) possible[count++] = errors_[i];
    }
    if (count == 0) return std::nullopt;
    std::sort(possible.begin(), possible.begin() + count);
    return likely_of({possible.data(), count}, share_);
}

int64_t error_window::deviation() const {
    const uint32_t told = std::min(count_, latest);
    double squares = 0;
    for (uint32_t i = 1; i <= told; ++i) {
        const auto error = static_cast<double>(errors_[(place_ + most - i) % most]);
        squares += error * error;
    }
    return told == 0 ? 0 : std::llround(std::sqrt(squares / told));
}

}  // namespace halcyon::predict
