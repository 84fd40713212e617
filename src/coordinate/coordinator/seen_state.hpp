#pragma once

#include <cstdint>
#include <iterator>

#include "policy/application.hpp"

namespace halcyon::coordinate {

/// What an application's turn is at.
enum class turn_stage : uint8_t {
    none,
    standing,  ///< may begin a phase without asking
    held,
    recalled,  ///< `recall` is sent, an agent has not told its round
    stopping,  ///< `stop` is sent, a node has not stopped
};

/// An application as operators see it: by its turn, or where it has none by what it does. In the order in which `top`
/// lists them.
enum class seen_state : uint8_t { moving, being_stopped, may_begin, waiting, interrupted, expected, computing, count };

constexpr seen_state seen(turn_stage stage, policy::movement state) {
    switch (stage) {
        case turn_stage::standing:
            return seen_state::may_begin;
        case turn_stage::recalled:
        case turn_stage::stopping:
            return seen_state::being_stopped;
        case turn_stage::held:
            return seen_state::moving;
        case turn_stage::none:
            break;
    }
    switch (state) {
        case policy::movement::computing:
            return seen_state::computing;
        case policy::movement::expected:
            return seen_state::expected;
        case policy::movement::waiting:
            return seen_state::waiting;
        case policy::movement::interrupted:
            return seen_state::interrupted;
        case policy::movement::moving:
            break;
    }
    return seen_state::moving;
}

constexpr const char* name_of(seen_state state) {
    constexpr const char* names[] = {"moving",      "being stopped", "may begin", "waiting",
                                     "interrupted", "expected",      "computing"};
    static_assert(std::size(names) == static_cast<size_t>(seen_state::count));
    return state < seen_state::count ? names[static_cast<size_t>(state)] : "unknown";
}
constexpr const char* name_of(turn_stage stage, policy::movement state) {
    return name_of(seen(stage, state));
}

}  // namespace halcyon::coordinate
