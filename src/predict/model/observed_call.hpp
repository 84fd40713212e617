#pragma once

#include <cstdint>
#include <string_view>

#include "policy/forecast.hpp"

namespace halcyon::predict {

/// A number for the name of a function, the same in all runs: FNV-1a.
[[nodiscard]] constexpr uint32_t call_name_number(std::string_view name) {
    uint32_t number = 0x811C9DC5u;
    for (const char c : name) number = (number ^ static_cast<unsigned char>(c)) * 0x01000193u;
    return number;
}

/// A call that transferred something, or opened or closed a file: what models learn from. Calls that others of these
/// were made by are none (an fwrite whose bytes went to the file by a write).
struct observed_call {
    uint32_t context = 0;               ///< number of the call stack; 0: not known
    uint32_t function = 0;              ///< call_name_number()
    bool truncates = false;             ///< an open that empties the file
    policy::access what;                ///< with the bytes that were asked for
    int64_t moved = policy::not_known;  ///< bytes that were transferred; not known: all that were asked for
    int64_t start_ns = 0;               ///< after any waiting
    int64_t wait_ns = 0;                ///< how long Halcyon held it back before
    int64_t duration_ns = 0;
    /// Other applications moved bytes at the same file system meanwhile: `duration_ns` is none of a time alone.
    bool beside_others = false;
};

[[nodiscard]] constexpr bool transfers(policy::operation what) {
    return what == policy::operation::read || what == policy::operation::write || what == policy::operation::copy;
}

}  // namespace halcyon::predict
