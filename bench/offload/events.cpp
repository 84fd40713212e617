/// How many events a second go from a client to its server: the ring of a real segment, between two processes.

#include "bench/figure.hpp"
#include "event_channel.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;
using offload::event_record;
using offload::event_ring;

constexpr int64_t events = 2'000'000;
constexpr int wanted = 25;  // rounds

struct progress {
    alignas(64) std::atomic<int64_t> taken{0};
    std::atomic<bool> wrong{false};
};

/// The server's part: takes all events, in order.
void take_all(const offload::segment& s, progress& p) {
    event_ring::consumer consumer(s.events(0), s.geometry().event_slots);
    event_record e;
    for (int64_t expected = 0;;) {
        if (consumer.pop(e) != event_ring::consumer::outcome::popped) {
            cpu_relax();
            continue;
        }
        if (e.iteration != expected) p.wrong.store(true);
        ++expected;
        if (expected % events == 0) p.taken.store(expected, std::memory_order_release);
    }
}

void run() {
    const auto server_core = take_first_core();
    rise_above_other_programs();
    auto& p = shared_with_children<progress>();
    const offload::segment s = make_segment();
    const child_process server([&] { take_all(s, p); });
    bind_to(server.pid(), server_core);
    event_ring::producer producer(s.events(0), s.geometry().event_slots);
    int64_t next = 0;
    for (rounds r(wanted); r.next();) {
        const int64_t begin = monotonic_ns();
        for (int64_t i = 0; i < events; ++i) {
            event_record e{};
            e.kind = offload::event_kind::block_handed;
            e.iteration = next++;
            while (!producer.push(e)) cpu_relax();
        }
        while (p.taken.load(std::memory_order_acquire) < next) cpu_relax();
        const auto took_ns = static_cast<double>(monotonic_ns() - begin);
        if (p.wrong.load()) stop("events arrived out of order");
        r.value("events_per_s", static_cast<double>(events) * 1e9 / took_ns, "1/s");
    }
}

}  // namespace

int main() {
    return run_benchmark(run);
}
