#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "coordinate/protocol/messages.hpp"

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
    [[nodiscard]] std::string text() const;
};

template <class Message>
using decoded = std::variant<Message, rejection>;

// A message out of its ranges is never written: what encode() gives, decode() takes, and gives back the same. All of
// them throw nothing but std::bad_alloc.

/// One line, without its end.
decoded<std::string> encode(const to_coordinator& message);
decoded<std::string> encode(const from_coordinator& message);

/// `line` may hold anything. Of fields that come twice, the first one counts.
decoded<to_coordinator> decode_to_coordinator(std::string_view line);
decoded<from_coordinator> decode_from_coordinator(std::string_view line);

}  // namespace halcyon::coordinate
