/// What steerable parameters add to halcyon_end_iteration, and what a bare broadcast of the same bytes takes; two
/// ranks.

#include <array>
#include <memory>
#include <vector>

#include "bench/figure.hpp"
#include "bench/offload/simulation.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;

constexpr int wanted = 20;  // rounds
constexpr int takes = 300;  // of a round
constexpr int parameters = 8;

std::string configuration(bool steerable) {
    std::string text = "halcyon: 1\nsimulation: bench\nresources: {buffer: {size: 4 MiB}}\nparameters:\n";
    for (int i = 0; i < parameters; ++i)
        text += "  k" + std::to_string(i) + ": {value: 1, min: 0, max: 2, " + (steerable ? "steerable" : "mutable") +
                ": true}\n";
    return text;
}

/// Of both ranks, the time of the one that took longer.
class pair_of_ranks {
  public:
    template <class Call>
    void time(std::vector<double>& into, Call call) {
        MPI_Barrier(MPI_COMM_WORLD);
        const int64_t begin = monotonic_ns();
        call();
        into.push_back(static_cast<double>(monotonic_ns() - begin));
    }
    static samples slower(const std::vector<double>& own) {
        std::vector<double> both(own.size());
        MPI_Allreduce(own.data(), both.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        samples all;
        for (const double ns : both) all.add(ns);
        return all;
    }
};

/// An open session whose server has nothing to do when a take begins.
class timed_session {
  public:
    explicit timed_session(bool steerable) : session_(".", configuration(steerable)) {}
    void take(pair_of_ranks& ranks) {
        ranks.time(ns_, [this] { check(halcyon_end_iteration(session_.handle())); });
        check(halcyon_wait(session_.handle(), iteration_++, HALCYON_STORED));
    }
    /// Of the round that ends.
    samples ns() {
        const samples all = pair_of_ranks::slower(ns_);
        ns_.clear();
        return all;
    }

  private:
    session session_;
    int64_t iteration_ = 0;
    std::vector<double> ns_;
};

void run() {
    const mpi_job job;
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) stop("start it by scripts/bench insitu steering: it needs two ranks");
    timed_session with(true), without(false), without_again(false);
    // The servers keep their ordinary priority: they work while both ranks sleep, between two takes.
    rise_above_other_programs();
    pair_of_ranks ranks;
    std::unique_ptr<rounds> r;
    if (rank == 0) r = std::make_unique<rounds>(wanted);
    const auto goes_on = [&] {
        int next = r && r->next() ? 1 : 0;
        MPI_Bcast(&next, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return next != 0;
    };
    while (goes_on()) {
        std::array<int64_t, parameters + 1> same_bytes{};
        std::vector<double> bare;
        for (int i = 0; i < takes; ++i) {
            for (int turn = 0; turn < 4; ++turn) {
                switch ((i + turn) % 4) {
                    case 0:
                        with.take(ranks);
                        break;
                    case 1:
                        without.take(ranks);
                        break;
                    case 2:
                        without_again.take(ranks);
                        break;
                    default:
                        ranks.time(bare, [&] {
                            MPI_Bcast(same_bytes.data(), static_cast<int>(same_bytes.size()), MPI_INT64_T, 0,
                                      MPI_COMM_WORLD);
                        });
                }
            }
        }
        const samples steered = with.ns(), plain = without.ns(), plain_again = without_again.ns();
        const samples broadcast = pair_of_ranks::slower(bare);
        if (!r) continue;
        r->value("steering_us", (steered.median() - plain.median()) * 1e-3, "us");
        r->value("steering_us_control", (plain_again.median() - plain.median()) * 1e-3, "us");
        r->value("steering_us_broadcast", broadcast.median() * 1e-3, "us");
        r->value("steering_us_p99", (steered.quantile(0.99) - plain.quantile(0.99)) * 1e-3, "us");
        r->value("steering_us_without", plain.median() * 1e-3, "us");
        r->require_control("steering_us", plain_again.median() / plain.median());
    }
}

}  // namespace

int main() {
    return run_benchmark(run);
}
