#pragma once

#include <string>
#include <string_view>

#include "coordinate/protocol/messages.hpp"
#include "coordinate/protocol/rejection.hpp"

namespace halcyon::coordinate {

// A message out of its ranges is never written: what encode() gives, decode() takes, and gives back the same. All of
// them throw nothing but std::bad_alloc.

/// One line, without its end.
decoded<std::string> encode(const to_coordinator& message);
decoded<std::string> encode(const from_coordinator& message);

/// `line` may hold anything. Of fields that come twice, the first one counts.
decoded<to_coordinator> decode_to_coordinator(std::string_view line);
decoded<from_coordinator> decode_from_coordinator(std::string_view line);

}  // namespace halcyon::coordinate
