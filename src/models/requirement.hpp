#pragma once

#include <cmath>
#include <string>

#include "base/error.hpp"

namespace halcyon::models {

/// Throws a `usage` error that names the argument, its value and what a model expects of it.
inline void require(bool holds, const char* name, double value, const char* expected) {
    if (holds) return;
    std::string number = std::to_string(value);
    if (std::isfinite(value) && value == std::floor(value) && std::abs(value) < 1e15)
        number = std::to_string(static_cast<long long>(value));
    throw error(error_kind::usage, std::string(name) + ": " + number + "; expected " + expected);
}

inline void require_share(const char* name, double value) {
    require(value >= 0 && value <= 1, name, value, "a share from 0 to 1");
}

inline void require_time(const char* name, double value) {
    require(value >= 0 && std::isfinite(value), name, value, "a time of 0 s or more");
}

inline void require_positive(const char* name, double value) {
    require(value > 0 && std::isfinite(value), name, value, "a number above 0");
}

}  // namespace halcyon::models
