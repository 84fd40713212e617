/// How long a sleeping server takes from an event's leaving its client to its handler, over a process that sleeps on a
/// bare futex, on the same core and in the same rounds: the 99th percentile of each group of rounds.

#include "bench/figure.hpp"
#include "event_channel.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;
using offload::event_record;
using offload::event_ring;

constexpr int wanted = 10;  // rounds
constexpr int events = 1500;

struct handled {
    alignas(64) std::atomic<uint64_t> count{0};
    std::atomic<int64_t> latency_ns{0};
};

/// The server's loop: takes an event, or sleeps until the doorbell rings.
[[noreturn]] void serve(const offload::segment& s, handled& h) {
    event_ring::consumer consumer(s.events(0), s.geometry().event_slots);
    doorbell& bell = s.header().bell;
    event_record e;
    while (true) {
        if (consumer.pop(e) == event_ring::consumer::outcome::popped) {
            h.latency_ns.store(monotonic_ns() - e.value[0], std::memory_order_relaxed);
            h.count.fetch_add(1, std::memory_order_release);
            continue;
        }
        bell.prepare();
        if (consumer.empty())
            bell.sleep(500'000'000);
        else
            bell.cancel();
    }
}

void run() {
    const auto server_core = take_first_core();
    // Otherwise the 99th percentile would be the length of another program's turn, on both sides of the ratio.
    rise_above_other_programs();
    auto& h = shared_with_children<handled>();
    const offload::segment s = make_segment();
    const child_process server([&] { serve(s, h); });
    futex_sleeper bare, bare_again;
    for (const pid_t pid : {server.pid(), bare.pid(), bare_again.pid()}) bind_to(pid, server_core);
    const watched_process watched[] = {watched_process(server.pid()), watched_process(bare.pid()),
                                       watched_process(bare_again.pid())};
    event_ring::producer producer(s.events(0), s.geometry().event_slots);
    const auto wake_server = [&] {
        const uint64_t before = h.count.load(std::memory_order_acquire);
        event_record e{};
        e.kind = offload::event_kind::signal;
        e.value[0] = monotonic_ns();
        if (!producer.push(e)) stop("the ring is full");
        s.header().bell.ring();
        while (h.count.load(std::memory_order_acquire) == before) cpu_relax();
        return static_cast<double>(h.latency_ns.load(std::memory_order_relaxed));
    };
    const auto wake_bare = [](futex_sleeper& sleeper) {
        sleeper.wake();
        return static_cast<double>(sleeper.latency_ns());
    };
    for (rounds r(wanted); r.next();) {
        interleaved took;
        for (int i = 0; i < events; ++i) {
            double ns[3] = {};
            for (int turn = 0; turn < 3; ++turn) {
                for (const watched_process& w : watched) w.wait_until_asleep();
                const int what = (i + turn) % 3;
                ns[what] = what == 0 ? wake_server() : wake_bare(what == 1 ? bare : bare_again);
            }
            took.add(ns[0], ns[1], ns[2]);
        }
        took.ratio(r, "wakeup_ratio", 0.99);
        r.value("wakeup_p99_ns", took.measured(0.99), "ns");
        r.value("wakeup_p99_ns_futex", took.reference(0.99), "ns");
        took.ratio(r, "wakeup_median_ratio");
    }
}

}  // namespace

int main() {
    return run_benchmark(run);
}
