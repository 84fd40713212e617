#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace halcyon::offload {

/// Messages on the socket between a client and its server. Everything after the handshake goes through the segment;
/// the open socket only shows that the other side lives.
///
///     client → server  hello, with descriptors (segment, document) when the server is new and has none yet
///     server → client  welcome, with descriptors (segment, document)
///     client → server  hello{purpose spill}, with one descriptor: the client's spill file
///     user → server    hello{purpose steer}, then messages: see server/steering.hpp
inline constexpr uint32_t protocol_magic = 0x48414c43;  // "HALC"
inline constexpr uint32_t protocol_version = 1;

struct hello {
    uint32_t magic = protocol_magic;
    uint32_t version = protocol_version;
    enum class purpose_kind : uint32_t { join, bring_segment, spill, steer } purpose = purpose_kind::join;
    uint32_t client = 0;  ///< index on this node; of a user: 0
};
static_assert(has_copied_layout<hello, 16, 4>());
static_assert(offsetof(hello, magic) == 0 && offsetof(hello, version) == 4);

/// The longest reason of a refusal.
inline constexpr uint64_t most_reason_bytes = 2000;

struct welcome {
    uint32_t magic = protocol_magic;
    uint32_t version = protocol_version;
    uint32_t generation = 0;
    uint32_t refused = 0;  ///< else the kind of error; the reason follows as text
};
static_assert(has_copied_layout<welcome, 16, 4>());
static_assert(offsetof(welcome, magic) == 0 && offsetof(welcome, version) == 4 && offsetof(welcome, refused) == 12);

}  // namespace halcyon::offload
