/// How long a sleeping server takes from an event's leaving its client to its handler, over a process that sleeps on a
/// bare futex, on the same core and in the same rounds: the 99th percentile of each group of rounds.

#include "bench/figure.hpp"
#include "event_channel.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;
using offload::event_record;
using offload::event_ring;

constexpr int groups = 10;
constexpr int rounds = 1500;

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
    interleaved late(0.99), usual(0.5);
    for (int round = 0; round < groups * rounds; ++round) {
        double ns[3] = {};
        for (int turn = 0; turn < 3; ++turn) {
            for (const watched_process& w : watched) w.wait_until_asleep();
            switch (const int what = (round + turn) % 3; what) {
                case 0: {
                    const uint64_t before = h.count.load(std::memory_order_acquire);
                    event_record e{};
                    e.kind = offload::event_kind::signal;
                    e.value[0] = monotonic_ns();
                    if (!producer.push(e)) stop("the ring is full");
                    s.header().bell.ring();
                    while (h.count.load(std::memory_order_acquire) == before) cpu_relax();
                    ns[what] = static_cast<double>(h.latency_ns.load(std::memory_order_relaxed));
                    break;
                }
                default: {
                    futex_sleeper& sleeper = what == 1 ? bare : bare_again;
                    sleeper.wake();
                    ns[what] = static_cast<double>(sleeper.latency_ns());
                }
            }
        }
        late.add(ns[0], ns[1], ns[2]);
        usual.add(ns[0], ns[1], ns[2]);
        if ((round + 1) % rounds == 0) {
            late.end_group();
            usual.end_group();
        }
    }
    late.print_ratio("wakeup_ratio");
    print("wakeup_p99_ns", late.measured(), "ns");
    print("wakeup_p99_ns_futex", late.reference(), "ns");
    usual.print_ratio("wakeup_median_ratio");
}

}  // namespace

int main() {
    return run_benchmark(run);
}
