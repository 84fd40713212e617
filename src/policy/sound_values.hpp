#pragma once

#include <algorithm>
#include <cmath>

#include "policy/application.hpp"

namespace halcyon::policy {

/// The numbers of an application, with those that make no sense replaced as application.hpp says. Bounded, so that sums
/// and products of them stay finite.
namespace sound {

inline constexpr double longest_s = 1e9;
inline constexpr double shortest_s = 1e-9;
/// What is left of a phase of which nothing is known.
inline constexpr double unknown_s = 1;

inline bool positive(double value) {
    return std::isfinite(value) && value > 0;
}
inline double or_else(double value, double otherwise) {
    return positive(value) ? value : otherwise;
}
inline double finite_or(double value, double otherwise) {
    return std::isfinite(value) ? value : otherwise;
}

inline double demand(const application& one) {
    return one.demand > 0 && one.demand <= 1 ? std::max(one.demand, 1e-6) : 1;
}
inline double weight(const application& one) {
    return std::clamp(or_else(one.weight, 1), 1e-6, 1e12);
}

inline double left_s(const application& one) {
    if (std::isfinite(one.left_s) && one.left_s >= 0) return std::min(one.left_s, longest_s);
    return std::min(or_else(one.alone_s, unknown_s), longest_s);
}

/// Above 0.
inline double alone_s(const application& one) {
    const double left = std::max(left_s(one), shortest_s);
    return std::clamp(or_else(one.alone_s, left), shortest_s, longest_s);
}

/// Of a present one not after now.
inline double arrived_s(const application& one, double now_s) {
    const double at = std::clamp(finite_or(one.arrived_s, now_s), now_s - longest_s, now_s + longest_s);
    return present(one) ? std::min(at, now_s) : at;
}

inline double probability(const application& one) {
    return std::isfinite(one.probability) ? std::clamp(one.probability, 0.0, 1.0) : 0;
}

/// Of the bandwidth, beside writers without Halcyon.
inline double free_share(double unseen_share) {
    return 1 - (std::isfinite(unseen_share) ? std::clamp(unseen_share, 0.0, 0.99) : 0);
}

inline double since_s(const application& one, double now_s) {
    return std::min(finite_or(one.since_s, now_s), now_s);
}

}  // namespace sound
}  // namespace halcyon::policy
