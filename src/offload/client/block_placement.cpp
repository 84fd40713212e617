#include "offload/client/block_placement.hpp"

#include <span>
#include <string>

#include "offload/client/usage.hpp"

namespace halcyon::offload {

block_placement::block_placement(const segment& shared, const model& data, uint32_t client, block_room& room,
                                 server_channel& channel, server_link& link, server_loss& loss,
                                 fallback_writer& fallback, spill_file& spill, const open_iteration& now)
    : model_(data),
      page_(shared.page(client)),
      room_(room),
      channel_(channel),
      link_(link),
      loss_(loss),
      fallback_(fallback),
      spill_file_(spill),
      now_(now) {}

result<block_placement::place> block_placement::find(const variable& v, uint64_t bytes) {
    const bool can_ever_fit = aligned_bytes(bytes) <= room_.arena_size();
    if (can_ever_fit)
        if (const auto entry = room_.take(bytes, !v.time_varying)) return place{place::kind::segment, *entry};
    switch (v.when_full) {
        case full_policy::skip:
            return place{place::kind::skip};
        case full_policy::spill:
            return place{place::kind::spill};
        case full_policy::run_inline:
            return place{place::kind::run_inline};
        case full_policy::block:
            break;
    }
    if (!can_ever_fit)
        return usage("a block of '" + v.name + "' of " + std::to_string(bytes) +
                     " bytes can never fit into this client's " + std::to_string(room_.arena_size()) +
                     " bytes of the buffer; raise resources.buffer.size or set when-full: spill");
    return wait_for_room(v, bytes);
}

result<block_placement::place> block_placement::wait_for_room(const variable& v, uint64_t bytes) {
    channel_.begin_wait();
    while (true) {
        if (auto waited = channel_.wait_for_room(room_); !waited) return waited.why();
        room_.resynchronise();
        if (const auto entry = room_.take(bytes, !v.time_varying)) return place{place::kind::segment, *entry};
        if (loss_.notice(channel_.signals_sent())) return place{place::kind::run_inline};
        const bool more_to_come = room_.is_more_to_come(now_.number());
        room_.take_back_released();
        if (more_to_come) continue;
        if (const auto entry = room_.take(bytes, !v.time_varying)) return place{place::kind::segment, *entry};
        return usage("no room for '" + v.name +
                     "': all of this client's buffer holds blocks that were allocated and not "
                     "cleared, or that outlive iterations; clear some, or raise resources.buffer.size");
    }
}

result<void> block_placement::skip(const variable& v, int block, const block_shape& shape) {
    ++counts_.skipped_blocks;
    counts_.skipped_bytes += shape.bytes;
    page_.skipped_blocks.store(static_cast<uint64_t>(counts_.skipped_blocks), std::memory_order_relaxed);
    page_.skipped_bytes.store(static_cast<uint64_t>(counts_.skipped_bytes), std::memory_order_relaxed);
    return channel_.push_absence(event_kind::block_skipped, v, block, absence::cause::skipped);
}

result<void> block_placement::spill(const variable& v, int block, const block_shape& shape, const void* data) {
    const bool first = !spill_file_.is_open();
    // An entry without arena bytes still needs its place in the table.
    channel_.begin_wait();
    while (!room_.has_entry()) {
        room_.resynchronise();
        if (room_.has_entry()) break;
        if (auto waited = channel_.wait_for_room(room_); !waited) return waited;
        if (loss_.notice(channel_.signals_sent()))
            return fallback_.add(v, block, now_.number(), shape,
                                 {static_cast<const std::byte*>(data), static_cast<size_t>(shape.bytes)});
    }
    auto at = spill_file_.append(model_.buffer.spill_directory, data, static_cast<uint64_t>(shape.bytes),
                                 static_cast<uint64_t>(model_.buffer.max_spill_bytes));
    if (!at) return at.why();
    if (first)
        if (auto shared = link_.share_spill_file(spill_file_.fd()); !shared) return shared;
    const uint32_t entry = room_.take_spilled(*at);
    room_.describe(entry, v, block, now_.number(), shape);
    // Before the block is the server's: one that takes over knows by this count that it needs the file.
    ++counts_.spilled_blocks;
    counts_.spilled_bytes += shape.bytes;
    page_.spilled_blocks.store(static_cast<uint64_t>(counts_.spilled_blocks), std::memory_order_relaxed);
    page_.spilled_bytes.store(static_cast<uint64_t>(counts_.spilled_bytes), std::memory_order_relaxed);
    room_.hand_over(entry);
    return channel_.push(room_.event_of(event_kind::block_handed, entry));
}

result<void> block_placement::store_here(const variable& v, int block, const block_shape& shape, const void* data) {
    const std::span<const std::byte> bytes{static_cast<const std::byte*>(data), static_cast<size_t>(shape.bytes)};
    if (loss_.has_happened()) return fallback_.add(v, block, now_.number(), shape, bytes);
    if (auto done = fallback_.store_now(v, block, now_.number(), shape, bytes); !done) return done;
    ++counts_.inlined_blocks;
    counts_.inlined_bytes += shape.bytes;
    page_.inlined_blocks.store(static_cast<uint64_t>(counts_.inlined_blocks), std::memory_order_relaxed);
    page_.inlined_bytes.store(static_cast<uint64_t>(counts_.inlined_bytes), std::memory_order_relaxed);
    return {};
}

}  // namespace halcyon::offload
