#include "offload/client/silence.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace halcyon::offload {
namespace {

constexpr int64_t complain_ns = 5'000'000'000;
/// The most that counts between two looks, which are some 50 ms apart: this process stood still for the rest.
constexpr int64_t most_between_looks_ns = 200'000'000;

const char* what_it_does(server_act act) {
    switch (act) {
        case server_act::syncing_at_end:
            return "syncs what was stored";
        case server_act::showing_at_end:
            return "makes the last view";
        case server_act::serving:
            break;
    }
    return "gives no sign of life";
}

}  // namespace

silence::silence(const segment& shared, std::chrono::nanoseconds limit, listener l)
    : segment_(shared), limit_ns_(limit.count()), listener_(std::move(l)) {}

void silence::begin() {
    looked_ns_ = monotonic_ns();
    silent_ns_ = 0;
}

void silence::go_on() {
    const segment_header& h = segment_.header();
    const int64_t time = monotonic_ns();
    silent_ns_ += std::min(time - looked_ns_, most_between_looks_ns);
    looked_ns_ = time;
    const tenure now = h.tenure.load();
    const uint64_t heartbeats = h.heartbeats.load(std::memory_order_relaxed);
    if (!(now == of_)) complained_ = gave_up_ = false;
    // One that is appointed or takes over is watched by whoever appointed it.
    if (!(now == of_) || heartbeats != heartbeats_ || now.now != tenure::phase::serving) silent_ns_ = 0;
    of_ = now;
    heartbeats_ = heartbeats;
    const server_act act = h.act.load(std::memory_order_relaxed);
    if (!complained_ && silent_ns_ >= std::min(complain_ns, limit_ns_ / 2)) {
        complained_ = true;
        listener_.complain("the server of this node " + std::string(what_it_does(act)) + " since " +
                           std::to_string(silent_ns_ / 1'000'000) + " ms" +
                           (act == server_act::serving
                                ? "; it is killed and replaced after " + std::to_string(limit_ns_ / 1'000'000) +
                                      " ms (resources.server.hang-timeout)"
                                : std::string()));
    }
    if (act != server_act::serving || gave_up_ || silent_ns_ < limit_ns_) return;
    gave_up_ = true;
    listener_.give_up(now.generation);
}

}  // namespace halcyon::offload
