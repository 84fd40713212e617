#pragma once

#include <utility>

#include "offload/segment/segment.hpp"
#include "processes.hpp"

namespace halcyon::bench {

/// A segment of one client, as large as its rings need: as many slots as the default configuration gives.
inline offload::segment make_segment() {
    offload::segment_geometry g;
    g.clients = 1;
    g.blocks_per_client = 64;
    g.event_slots = 2048;
    g.return_slots = 128;
    g.arena_bytes = 4096;
    g.bytes = g.arena_offset(0) + g.arena_bytes;
    auto s = offload::segment::create(g, false);
    if (!s) stop(s.why().message);
    if (auto touched = s->touch(0, {}); !touched) stop(touched.why().message);
    return std::move(*s);
}

}  // namespace halcyon::bench
