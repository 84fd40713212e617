#include "offload/server/client_signals.hpp"

#include <algorithm>
#include <vector>

namespace halcyon::offload {

void client_signals::take(uint32_t client, uint32_t event_id, int64_t iteration) {
    segment_.page(client).signals_taken.fetch_add(1, std::memory_order_relaxed);
    if (event_id >= data_.events.size()) return journal_.add(&run_counts::rejected_blocks);
    switch (data_.events[event_id].scope) {
        case scope::client:
            actions_.run(event_id, iteration, static_cast<int>(client));
            return;
        case scope::job:
            actions_.raise_in_job(static_cast<int>(client), event_id, iteration);
            return;
        case scope::node:
            segment_.raised_in(event_id).store(static_cast<uint64_t>(iteration), std::memory_order_relaxed);
            segment_.raised(event_id, client).fetch_add(1, std::memory_order_relaxed);
            run_if_all_signalled(event_id);
    }
}

void client_signals::run_if_all_signalled(uint32_t event_id) {
    const uint32_t clients = segment_.geometry().clients;
    const auto raised = [&](uint32_t c) { return segment_.raised(event_id, c).load(std::memory_order_relaxed); };
    event_count& fired = segment_.fired(event_id);
    uint64_t all = UINT64_MAX, most = 0;
    for (uint32_t c = 0; c < clients; ++c) {
        if (book_.is_live(c)) all = std::min(all, raised(c));
        most = std::max(most, raised(c));
    }
    for (all = std::min(all, most); fired.load(std::memory_order_relaxed) < all;) {
        const uint64_t before = fired.fetch_add(1, std::memory_order_relaxed);
        std::vector<uint32_t> raisers;
        for (uint32_t c = 0; c < clients; ++c)
            if (raised(c) > before) raisers.push_back(c);
        const auto iteration = static_cast<int64_t>(segment_.raised_in(event_id).load(std::memory_order_relaxed));
        actions_.run(event_id, iteration, -1, [this, raisers] {
            for (const uint32_t c : raisers) segment_.page(c).signals_done.fetch_add(1, std::memory_order_relaxed);
        });
    }
}

void client_signals::run_what_nobody_waits_for() {
    for (uint32_t id = 0; id < data_.events.size(); ++id)
        if (data_.events[id].scope == scope::node) run_if_all_signalled(id);
}

uint64_t client_signals::give_up(uint32_t client) {
    client_page& page = segment_.page(client);
    uint64_t waiting = 0;
    for (uint32_t id = 0; id < data_.events.size(); ++id) {
        const uint64_t raised = segment_.raised(id, client).load(std::memory_order_relaxed);
        waiting += raised - std::min(raised, segment_.fired(id).load(std::memory_order_relaxed));
    }
    const uint64_t taken = page.signals_taken.load(std::memory_order_acquire);
    const uint64_t done = page.signals_done.load(std::memory_order_acquire);
    const uint64_t lost = taken - std::min(taken, done + waiting);
    page.signals_done.store(done + lost, std::memory_order_release);
    return lost;
}

}  // namespace halcyon::offload
