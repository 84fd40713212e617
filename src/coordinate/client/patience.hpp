#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "coordinate/protocol/messages.hpp"

namespace halcyon::coordinate {

/// How long a process waits for its agent, of HALCYON_COORDINATE_PATIENCE_MS: as long as the agent takes it for, two
/// heartbeats at least, or a process would give up before an agent that was just started can have answered. Ten
/// minutes at most; a second where it makes no sense.
inline int64_t patience_ms(const char* set) {
    constexpr int64_t usual = 1000, most = 600'000;
    constexpr auto least = static_cast<int64_t>(lease_silence_s * 1000);
    const long long told = std::strtoll(set, nullptr, 10);
    return told > 0 ? std::clamp<int64_t>(told, least, most) : usual;
}

}  // namespace halcyon::coordinate
