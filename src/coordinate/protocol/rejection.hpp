#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace halcyon::coordinate {

/// Why a message was not understood.
struct rejection {
    enum class kind : uint8_t {
        not_json,      ///< no JSON object, too long, or not UTF-8
        unknown_type,  ///< maybe of a later version
        wrong_field,   ///< missing, of another type, or out of its range
    };
    kind what = kind::not_json;
    std::string field;     ///< "inform.left_s"
    std::string value;     ///< what was seen, shortened
    std::string expected;  ///< "a number from 0 to 1e+09"
    bool operator==(const rejection&) const = default;

    /// "inform.left_s: -1; expected a number from 0 to 1e+09".
    [[nodiscard]] std::string text() const { return field + ": " + value + "; expected " + expected; }
};

template <class Message>
using decoded = std::variant<Message, rejection>;

}  // namespace halcyon::coordinate
