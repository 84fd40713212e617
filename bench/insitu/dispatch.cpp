/// From halcyon_signal to the first line of a plugin in its own process, over a chain of two bare futex wakes: from
/// this process to one that sleeps, and from that to another one. Server, worker and chain share the core that is not
/// the client's; all have ordinary priority, the worker a lower one.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>

#include "bench/figure.hpp"
#include "bench/offload/simulation.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;

constexpr int wanted = 20;  // rounds
constexpr int signals = 200;
constexpr double share = 0.99;

/// As the plugin has it.
struct beginning {
    std::atomic<int64_t> at_ns;
    std::atomic<uint64_t> runs;
};

beginning& mapped(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(beginning)) != 0) stop(path);
    void* at = ::mmap(nullptr, sizeof(beginning), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (at == MAP_FAILED) stop(path);
    return *static_cast<beginning*>(at);
}

/// Two processes that sleep on a futex each; the first wakes the second one.
class futex_chain {
  public:
    futex_chain()
        : shared_(shared_with_children<state>()),
          second_([this] { wait_and([this] { note(); }, shared_.second); }),
          first_([this] { wait_and([this] { pass_on(); }, shared_.first); }) {}

    double latency_ns() {
        const uint64_t before = shared_.woken.load(std::memory_order_acquire);
        const int64_t begin = monotonic_ns();
        shared_.first.store(0, std::memory_order_release);
        futex_wake(shared_.first, 1);
        while (shared_.woken.load(std::memory_order_acquire) == before) cpu_relax();
        return static_cast<double>(shared_.at_ns.load(std::memory_order_relaxed) - begin);
    }
    [[nodiscard]] pid_t first() const { return first_.pid(); }
    [[nodiscard]] pid_t second() const { return second_.pid(); }

  private:
    struct state {
        alignas(64) std::atomic<uint32_t> first{1};
        alignas(64) std::atomic<uint32_t> second{1};
        alignas(64) std::atomic<int64_t> at_ns{0};
        std::atomic<uint64_t> woken{0};
    };
    template <class Work>
    [[noreturn]] void wait_and(Work work, std::atomic<uint32_t>& word) {
        while (true) {
            while (word.load(std::memory_order_acquire) != 0) futex_wait(word, 1, -1);
            word.store(1, std::memory_order_relaxed);
            work();
        }
    }
    void pass_on() {
        shared_.second.store(0, std::memory_order_release);
        futex_wake(shared_.second, 1);
    }
    void note() {
        shared_.at_ns.store(monotonic_ns(), std::memory_order_relaxed);
        shared_.woken.fetch_add(1, std::memory_order_release);
    }

    state& shared_;
    child_process second_, first_;
};

pid_t worker_of(pid_t server) {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(server) + "/task"))
        if (pid_t worker = 0; std::ifstream(thread.path() / "children") >> worker) return worker;
    stop("the server has no worker");
}

double dispatch_ns(const session& s, beginning& said) {
    const uint64_t before = said.runs.load(std::memory_order_acquire);
    const int64_t begin = monotonic_ns();
    check(halcyon_signal(s.handle(), "now"));
    const int64_t limit = begin + 10'000'000'000;
    while (said.runs.load(std::memory_order_acquire) == before)
        if (monotonic_ns() > limit) stop("the plugin does not run");
    return static_cast<double>(said.at_ns.load(std::memory_order_relaxed) - begin);
}

void run() {
    take_first_core();
    // Before MPI, whose threads a fork would leave behind.
    futex_chain chain, chain_again;
    const mpi_job job;
    const scratch_folder place(".");
    const std::string file = place.path() + "/began";
    beginning& said = mapped(file);
    session s(".", "halcyon: 1\nsimulation: bench\nactions:\n  look: {type: module, module: " HALCYON_BENCH_PLUGIN
                   ", function: began, options: {file: " +
                       file +
                       "}}\nevents:\n  now: {actions: [look]}\n"
                       "resources:\n  server: {spin: 0 us}\n  buffer: {size: 64 MiB}\n");
    static_cast<void>(dispatch_ns(s, said));  // it has started
    const pid_t worker = worker_of(s.server());
    for (const futex_chain* c : {&chain, &chain_again})
        for (const pid_t pid : {c->first(), c->second()}) bind_to(pid, cores_of(s.server()));
    const watched_process parts[] = {watched_process(s.server()),          watched_process(worker),
                                     watched_process(chain.first()),       watched_process(chain.second()),
                                     watched_process(chain_again.first()), watched_process(chain_again.second())};
    for (rounds r(wanted); r.next();) {
        interleaved took;
        for (int i = 0; i < signals; ++i) {
            double ns[3] = {};
            for (int turn = 0; turn < 3; ++turn) {
                for (const watched_process& p : parts) p.wait_until_asleep();
                switch (const int what = (i + turn) % 3; what) {
                    case 0:
                        ns[what] = dispatch_ns(s, said);
                        break;
                    case 1:
                        ns[what] = chain.latency_ns();
                        break;
                    default:
                        ns[what] = chain_again.latency_ns();
                }
            }
            took.add(ns[0], ns[1], ns[2]);
        }
        r.value("dispatch_ns", took.measured(share), "ns");
        r.value("dispatch_ns_futex", took.reference(share), "ns");
        r.value("dispatch_ns_median", took.measured(), "ns");
        r.value("dispatch_ns_futex_median", took.reference(), "ns");
        took.ratio(r, "dispatch_ratio", share);
    }
}

}  // namespace

int main() {
    return run_benchmark(run);
}
