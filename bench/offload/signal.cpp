/// What halcyon_signal costs the client: with a server that is awake, and with one that sleeps, the latter over a bare
/// wake of a process that sleeps on a futex, on the same core and in the same rounds.

#include "bench/figure.hpp"
#include "simulation.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;

constexpr int wanted = 20;  // rounds
constexpr int awake_signals = 1000;
constexpr long asleep_signals = 100;

std::string configuration(const char* spin) {
    return std::string(
               "halcyon: 1\nsimulation: bench\nactions:\n  note: {type: log}\nevents:\n  now: {actions: [note]}\n"
               "resources:\n  server: {spin: ") +
           spin + "}\n  buffer: {size: 64 MiB, max-pending-signals: 4096}\n";
}

double signal_ns(const session& s) {
    const int64_t begin = monotonic_ns();
    const int outcome = halcyon_signal(s.handle(), "now");
    const int64_t end = monotonic_ns();
    check(outcome);
    return static_cast<double>(end - begin);
}

void measure_awake() {
    session s(".", configuration("60 s"));
    const watched_process server(s.server());
    for (rounds r(wanted); r.next();) {
        samples took, clock_alone;
        const long slept = server.sleeps();
        for (int i = 0; i < awake_signals; ++i) {
            took.add(signal_ns(s));
            const int64_t nothing = monotonic_ns();
            clock_alone.add(static_cast<double>(monotonic_ns() - nothing));
            busy_pause(20'000);  // the server takes it; otherwise the ring would fill
        }
        // It may sleep now and then for its lock; a server that slept for want of events would do so each time.
        const long sleeps = server.sleeps() - slept;
        r.require("the server stays awake", sleeps <= awake_signals / 10, std::to_string(sleeps) + " sleeps");
        r.value("signal_ns", took.median(), "ns");
        r.value("signal_ns_clock", clock_alone.median(), "ns");
    }
}

/// Before each of its signals.
void server_was_asleep(rounds& r, const watched_process& server, long slept_before) {
    server.wait_until_asleep();  // after the last one
    const long sleeps = server.sleeps() - slept_before;
    r.require("the server sleeps before each signal", sleeps >= asleep_signals, std::to_string(sleeps) + " sleeps");
}

void measure_asleep(futex_sleeper& bare, futex_sleeper& bare_again) {
    // Only here: a server that spins at this priority would never let its own second thread run.
    for (const pid_t pid : {::getpid(), bare.pid(), bare_again.pid()}) rise_above_other_programs(pid);
    session s(".", configuration("0 us"));
    const watched_process server(s.server()), first(bare.pid()), second(bare_again.pid());
    for (const pid_t sleeper : {bare.pid(), bare_again.pid()}) bind_to(sleeper, cores_of(s.server()));
    for (rounds r(wanted); r.next();) {
        interleaved took;
        const long slept = server.sleeps();
        for (long i = 0; i < asleep_signals; ++i) {
            double ns[3] = {};
            for (int turn = 0; turn < 3; ++turn) {
                for (const watched_process* p : {&server, &first, &second}) p->wait_until_asleep();
                switch (const long what = (i + turn) % 3; what) {
                    case 0:
                        ns[what] = signal_ns(s);
                        break;
                    case 1:
                        ns[what] = static_cast<double>(bare.wake());
                        break;
                    default:
                        ns[what] = static_cast<double>(bare_again.wake());
                }
            }
            took.add(ns[0], ns[1], ns[2]);
        }
        server_was_asleep(r, server, slept);
        r.value("signal_asleep_ns", took.measured(), "ns");
        r.value("signal_asleep_ns_futex", took.reference(), "ns");
        took.ratio(r, "signal_asleep_over_futex");
    }
}

void run() {
    take_first_core();
    // Before MPI, whose threads a fork would leave behind.
    futex_sleeper bare, bare_again;
    const mpi_job job;
    measure_awake();
    measure_asleep(bare, bare_again);
}

}  // namespace

int main() {
    return run_benchmark(run);
}
