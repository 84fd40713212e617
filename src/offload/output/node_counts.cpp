#include "offload/output/node_counts.hpp"

#include <algorithm>

#include "offload/segment/remains.hpp"

namespace halcyon::offload {

policy_counts policies_of(const client_page& page) {
    policy_counts counts;
    counts.skipped_blocks = static_cast<int64_t>(page.skipped_blocks.load());
    counts.skipped_bytes = static_cast<int64_t>(page.skipped_bytes.load());
    counts.spilled_blocks = static_cast<int64_t>(page.spilled_blocks.load());
    counts.spilled_bytes = static_cast<int64_t>(page.spilled_bytes.load());
    counts.inlined_blocks = static_cast<int64_t>(page.inlined_blocks.load());
    counts.inlined_bytes = static_cast<int64_t>(page.inlined_bytes.load());
    return counts;
}

void count_clients(const segment& of, run_counts& counts) {
    static_cast<policy_counts&>(counts) = {};
    counts.dead_clients = 0;
    for (uint32_t c = 0; c < of.geometry().clients; ++c) {
        const client_page& page = of.page(c);
        counts += policies_of(page);
        counts.dead_clients += page.dead.load() != 0 ? 1 : 0;
    }
    counts.server_restarts = of.header().tenure.load().restarts();
}

run_counts counts_without_server(const segment& of) {
    const ledger last = of.header().ledger.read();
    run_counts counts;
    static_cast<server_counts&>(counts) = last.counts;
    count_clients(of, counts);
    static_cast<policy_counts&>(counts) = {};
    for (uint32_t c = 0; c < of.geometry().clients; ++c) {
        const client_page& page = of.page(c);
        const uint64_t taken = page.signals_taken.load(std::memory_order_acquire);
        counts.lost_signals += static_cast<int64_t>(taken - std::min(taken, page.signals_done.load()));
        // Another client stores what is left of one whose process has ended.
        const bool out_of_reach = page.dead.load() != 0 && !process_has_ended(page);
        for (const block_entry& e : of.table(c)) {
            const block_state state = e.state.load(std::memory_order_acquire);
            if (state == block_state::free || state == block_state::private_to_client) continue;
            if (e.iteration <= last.stored_through) continue;
            if (state == block_state::stored_early) {
                ++counts.blocks;
                counts.bytes += e.shape.bytes;
            } else if (out_of_reach) {
                ++counts.missing_blocks;
            }
        }
    }
    return counts;
}

int64_t phases_taken(const segment& of) {
    uint64_t taken = 0;
    for (uint32_t c = 0; c < of.geometry().clients; ++c) taken += of.page(c).iterations_taken.load();
    return static_cast<int64_t>(taken);
}

}  // namespace halcyon::offload
