#include "offload/client/silence.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace halcyon::offload {
namespace {

constexpr int64_t complain_ns = 5'000'000'000;
/// The most that counts between two looks, which are some 50 ms apart: this process stood still for the rest.
constexpr int64_t most_between_looks_ns = 200'000'000;

std::string text_of_ms(int64_t ns) {
    return std::to_string(ns / 1'000'000) + " ms";
}

}  // namespace

silence::silence(const segment& shared, std::chrono::nanoseconds limit, listener l)
    : segment_(shared), limit_ns_(limit.count()), listener_(std::move(l)) {}

void silence::begin() {
    looked_ns_ = monotonic_ns();
    silent_ns_ = in_act_ns_ = 0;
}

void silence::go_on() {
    const segment_header& h = segment_.header();
    const int64_t time = monotonic_ns();
    const int64_t passed = std::min(time - looked_ns_, most_between_looks_ns);
    looked_ns_ = time;
    const tenure now = h.tenure.load();
    const uint64_t heartbeats = h.heartbeats.load(std::memory_order_relaxed);
    const server_act act = h.act.load(std::memory_order_relaxed);
    const bool other = !(now == of_);
    silent_ns_ = other || heartbeats != heartbeats_ ? 0 : silent_ns_ + passed;
    in_act_ns_ = other || act != act_ ? 0 : in_act_ns_ + passed;
    if (other) complained_.clear();
    of_ = now;
    heartbeats_ = heartbeats;
    act_ = act;
    const int64_t long_ns = std::min(complain_ns, limit_ns_ / 2);
    // One that is appointed or takes over is watched by whoever appointed it.
    if (now.now != tenure::phase::serving) {
        if (silent_ns_ >= long_ns) complain_once("no server serves this node: the next one is expected");
        return;
    }
    if (act != server_act::serving && in_act_ns_ >= long_ns)
        complain_once(act == server_act::syncing_at_end   ? "the server of this node syncs what was stored"
                      : act == server_act::ending_plugins ? "the server of this node ends its plugins"
                                                          : "the server of this node makes the last view");
    if (silent_ns_ >= long_ns)
        complain_once("the server of this node gives no sign of life; it is killed and replaced after " +
                      text_of_ms(limit_ns_) + " (resources.server.hang-timeout)");
    if (silent_ns_ < limit_ns_) return;
    silent_ns_ = 0;
    if (!listener_.give_up(now.generation))
        complain_once("the server of this node gives no sign of life and cannot be ended from here, being in another " +
                      std::string("PID namespace: end its process by hand"));
}

void silence::complain_once(const std::string& what) {
    if (complained_ == what) return;
    complained_ = what;
    listener_.complain(what + " (for " + text_of_ms(std::max(silent_ns_, in_act_ns_)) + " by now)");
}

}  // namespace halcyon::offload
