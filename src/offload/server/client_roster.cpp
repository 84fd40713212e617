#include "offload/server/client_roster.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "offload/segment/remains.hpp"

namespace halcyon::offload {
namespace {

/// How long clients that did not join yet are waited for: by a server that takes over, and by the first one when all
/// that did join are gone.
constexpr int64_t successor_patience_ns = 30'000'000'000, open_patience_ns = 5'000'000'000;

}  // namespace

client_roster::client_roster(const segment& shared, uint32_t generation) : segment_(shared), generation_(generation) {
    const uint32_t clients = shared.geometry().clients;
    gone_.assign(clients, false);
    silent_.assign(clients, false);
    awaited_.assign(clients, true);
}

bool client_roster::are_all_gone() const {
    return std::find(gone_.begin(), gone_.end(), false) == gone_.end();
}

bool client_roster::somebody_waits() const {
    bool waiting = false;
    for (uint32_t c = 0; c < size(); ++c)
        waiting = waiting || (!gone_[c] && segment_.page(c).waiting.load(std::memory_order_acquire) != 0);
    return waiting;
}

bool client_roster::leave(uint32_t client) {
    if (gone_[client]) return false;
    gone_[client] = true;
    return true;
}

void client_roster::await_again() {
    for (uint32_t c = 0; c < size(); ++c) {
        silent_[c] = segment_.page(c).dead.load(std::memory_order_acquire) != 0;
        awaited_[c] = !silent_[c];
    }
    awaited_until_ns_ = monotonic_ns() + successor_patience_ns;
}

std::vector<uint32_t> client_roster::take_lost() {
    if (std::find(awaited_.begin(), awaited_.end(), true) == awaited_.end()) return {};
    if (awaited_until_ns_ == 0) {
        // The first server of a session: its clients join within moments of each other. Those that did have died?
        if (std::find(gone_.begin(), gone_.end(), true) == gone_.end()) return {};
        for (uint32_t c = 0; c < size(); ++c)
            if (!awaited_[c] && !gone_[c]) return {};
        awaited_until_ns_ = monotonic_ns() + open_patience_ns;
    }
    std::vector<uint32_t> lost;
    for (uint32_t c = 0; c < size(); ++c) {
        if (!awaited_[c]) continue;
        const client_page& page = segment_.page(c);
        // One that never joined the first server says that it closed when its session could not be opened.
        const bool left = generation_ == 1 && page.closed.load(std::memory_order_acquire) != 0;
        const bool ended = left || process_has_ended(page);
        // One that is seen to live comes when it can.
        if (!ended && (process_is_in_sight(page) || monotonic_ns() < awaited_until_ns_)) continue;
        awaited_[c] = false;
        silent_[c] = true;
        lost.push_back(c);
    }
    return lost;
}

}  // namespace halcyon::offload
