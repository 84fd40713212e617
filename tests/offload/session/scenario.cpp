// A small simulation whose course the command line decides, for the tests that watch Halcyon from outside.
//
//   scenario CONFIG [key=value …]
//     iterations=10  pause_ms=0     length of the run and of each iteration's computation
//     zero_copy=0                   alloc, commit, clear instead of write
//     die_rank=-1 die_at=-1 die=kill|abort|exit   what one rank does in the middle of an iteration
//     die_in_open=0                 the same rank: dies instead in this collective call of halcyon_open, counted from 1
//     signal=NAME                   raised in each iteration
//     wait=none|stored|durable      after each iteration
//     durable_at=-1                 after this iteration alone until it is durable
//     final_wait=0                  1: waits before the close until the last iteration is stored
//     durable_rank=-1               this rank waits before the close until the last iteration is durable
//     lockstep=0                    1: a barrier in each iteration, after rank 0 wrote and before the others do
//     extra_rank=-1                 this rank alone goes through two more iterations before the close
//     ahead=0                       the others begin when rank 0 has ended this many iterations
//     together=0                    1: a barrier at the begin of each iteration
//     gates=N,M…                    before iteration N every rank waits until the file `gate-N` is in its directory
//                                   (a minute at most, then the run fails); N = iterations: before the close
//     signals=1                     how often the signal is raised in each iteration
//     sessions_before=0             so many sessions of one iteration are opened and closed first
//     n=VALUE                       sets the parameter n before open
//     leave_open=0                  1: rank 1 allocates the first variable once more, fills it, and closes with
//                                   no commit
//     finalize_first=0              1: MPI_Finalize comes before the close, and one more iteration between them
//     vanish=0                      1: every rank ends without the close, and without MPI
//     watch=NAME                    the value of this parameter in each iteration, as lines of the file `watched-RANK`
//     later_server=PATH             sets HALCYON_SERVER in the environment of the running simulation, after the open
//
// Each variable is filled with a function of (name, iteration, rank, index), so that a reader can check every value:
// value(i) = 1000 * iteration + 10 * rank + (i mod 7) + 0.25 * (length of the name).
// Each rank prints one line of JSON at the end: its statistics, the error of the first call that failed, and the word
// of the first that went well and had something to say.

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "halcyon/halcyon.h"

namespace {

std::map<std::string, std::string> options;
std::string first_error;
std::string first_notice;  ///< of a call that went well and had something to say

long number(const char* key, long otherwise) {
    const auto found = options.find(key);
    return found == options.end() ? otherwise : std::strtol(found->second.c_str(), nullptr, 10);
}
std::string word(const char* key, const char* otherwise) {
    const auto found = options.find(key);
    return found == options.end() ? otherwise : found->second;
}

bool ok(int status) {
    // After a failure, a call that goes well and says nothing leaves its message.
    if (first_error.empty() && (status != HALCYON_OK || first_notice.empty()))
        (status == HALCYON_OK ? first_notice : first_error) = halcyon_error_message();
    return status == HALCYON_OK;
}

/// What stands between the commas.
std::vector<std::string> parts_of(const std::string& all) {
    std::vector<std::string> list;
    for (size_t at = 0; at != std::string::npos;) {
        const size_t comma = all.find(',', at);
        list.push_back(all.substr(at, comma == std::string::npos ? comma : comma - at));
        at = comma == std::string::npos ? comma : comma + 1;
    }
    return list;
}

/// Variables to write: those of `variables=a,b/c`, all float32.
std::vector<std::string> names() {
    return parts_of(word("variables", "theta"));
}

/// Lets a test act between two iterations, however long it takes.
void pass_gate(long iteration) {
    const std::string number = std::to_string(iteration);
    const auto gates = parts_of(word("gates", ""));
    if (std::find(gates.begin(), gates.end(), number) == gates.end()) return;
    const std::string file = "gate-" + number;
    for (int ms = 0; ::access(file.c_str(), F_OK) != 0; ms += 5) {
        if (ms >= 60'000) {
            std::fprintf(stderr, "scenario: nobody made the file '%s' within a minute\n", file.c_str());
            MPI_Abort(MPI_COMM_WORLD, 4);
        }
        ::usleep(5000);
    }
}

void fill(float* data, int64_t count, const std::string& name, long iteration, int rank) {
    const float base = 1000.0F * static_cast<float>(iteration) + 10.0F * static_cast<float>(rank) +
                       0.25F * static_cast<float>(name.size());
    for (int64_t i = 0; i < count; ++i) data[i] = base + static_cast<float>(i % 7);
}

void die(const std::string& how) {
    if (how == "kill") ::raise(SIGKILL);
    if (how == "abort") MPI_Abort(MPI_COMM_WORLD, 3);
    ::_exit(0);
}

int collectives_until_death = 0;  ///< of halcyon_open, on the rank that dies in it; 0: none dies

/// Called by the collective functions of MPI below, which stand before MPI's own.
void die_in_open() {
    if (collectives_until_death > 0 && --collectives_until_death == 0) die(word("die", "kill"));
}

void write_one(halcyon_handle h, const std::string& name, long iteration, int rank) {
    halcyon_block_info info{};
    if (!ok(halcyon_describe(h, name.c_str(), 0, &info))) return;
    const int64_t count = info.bytes / static_cast<int64_t>(sizeof(float));
    if (number("zero_copy", 0) != 0) {
        void* data = nullptr;
        if (!ok(halcyon_alloc(h, name.c_str(), 0, &data))) return;
        fill(static_cast<float*>(data), count, name, iteration, rank);
        ok(halcyon_commit(h, name.c_str(), 0));
        ok(halcyon_clear(h, name.c_str(), 0));
        return;
    }
    std::vector<float> data(static_cast<size_t>(count));
    fill(data.data(), count, name, iteration, rank);
    ok(halcyon_write_bytes(h, name.c_str(), 0, data.data(), info.bytes));
}

/// A whole session of one iteration.
bool run_session(const char* configuration, int rank) {
    halcyon_handle h = nullptr;
    if (!ok(halcyon_open(configuration, MPI_COMM_WORLD, &h))) return false;
    for (const std::string& name : names()) write_one(h, name, 0, rank);
    ok(halcyon_end_iteration(h));
    return ok(halcyon_close(&h));
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type,
                                                 MPI_Op op, MPI_Comm comm) {
    die_in_open();
    return PMPI_Allreduce(send, receive, count, type, op, comm);
}
[[gnu::visibility("default")]] int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    die_in_open();
    return PMPI_Bcast(data, count, type, root, comm);
}
[[gnu::visibility("default")]] int MPI_Gather(const void* send, int count, MPI_Datatype type, void* receive,
                                              int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
    die_in_open();
    return PMPI_Gather(send, count, type, receive, receive_count, receive_type, root, comm);
}
}

int main(int argc, char** argv) {
    for (int i = 2; i < argc; ++i) {
        const char* equals = std::strchr(argv[i], '=');
        if (equals == nullptr) return 2;
        options[std::string(argv[i], static_cast<size_t>(equals - argv[i]))] = equals + 1;
    }
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (options.contains("n")) ok(halcyon_set_parameter(nullptr, "n", static_cast<double>(number("n", 0))));
    if (rank == number("die_rank", -1)) collectives_until_death = static_cast<int>(number("die_in_open", 0));
    for (long n = number("sessions_before", 0); n > 0 && run_session(argv[1], rank);) --n;
    halcyon_handle h = nullptr;
    if (!ok(halcyon_open(argv[1], MPI_COMM_WORLD, &h))) {
        std::printf("{\"rank\": %d, \"open\": \"%s\"}\n", rank, first_error.c_str());
        MPI_Finalize();
        return 1;
    }
    collectives_until_death = 0;
    if (const std::string later = word("later_server", ""); !later.empty())
        ::setenv("HALCYON_SERVER", later.c_str(), 1);
    if (rank == 0) {
        std::printf("opened\n");
        std::fflush(stdout);
    }
    const long iterations = number("iterations", 10);
    const auto variables = names();
    std::ofstream watched;
    const std::string parameter = word("watch", "");
    if (!parameter.empty()) watched.open("watched-" + std::to_string(rank));
    halcyon_stats_t stats{};
    stats.size_bytes = sizeof stats;
    for (long iteration = 0; iteration < iterations; ++iteration) {
        pass_gate(iteration);
        if (const long pause = number("pause_ms", 0); pause > 0) ::usleep(static_cast<useconds_t>(pause) * 1000);
        const long ahead = number("ahead", 0);
        if (ahead > 0 && iteration == (rank == 0 ? ahead : 0)) MPI_Barrier(MPI_COMM_WORLD);
        // Whoever dies in this iteration dies after everybody ended the one before.
        if (number("together", 0) != 0) MPI_Barrier(MPI_COMM_WORLD);
        if (double value = 0; !parameter.empty() && ok(halcyon_get_parameter(h, parameter.c_str(), &value)))
            watched << value << std::endl;
        if (number("lockstep", 0) != 0 && rank != 0) MPI_Barrier(MPI_COMM_WORLD);
        for (const std::string& name : variables) {
            write_one(h, name, iteration, rank);
            if (rank == number("die_rank", -1) && iteration == number("die_at", -1)) die(word("die", "kill"));
        }
        if (number("lockstep", 0) != 0 && rank == 0) MPI_Barrier(MPI_COMM_WORLD);
        if (const std::string event = word("signal", ""); !event.empty())
            for (long n = number("signals", 1); n > 0; --n) ok(halcyon_signal(h, event.c_str()));
        ok(halcyon_end_iteration(h));
        if (const std::string stage = word("wait", "none"); stage != "none")
            ok(halcyon_wait(h, iteration, stage == "durable" ? HALCYON_DURABLE : HALCYON_STORED));
        if (iteration == number("durable_at", -1)) ok(halcyon_wait(h, iteration, HALCYON_DURABLE));
    }
    if (number("final_wait", 0) != 0) ok(halcyon_wait(h, iterations - 1, HALCYON_STORED));
    if (rank == number("durable_rank", -1)) ok(halcyon_wait(h, iterations - 1, HALCYON_DURABLE));
    pass_gate(iterations);
    for (long extra = iterations; rank == number("extra_rank", -1) && extra < iterations + 2; ++extra) {
        pass_gate(extra + 1);
        for (const std::string& name : variables) write_one(h, name, extra, rank);
        ok(halcyon_end_iteration(h));
    }
    if (number("leave_open", 0) != 0) {
        void* data = nullptr;
        halcyon_block_info info{};
        for (size_t i = 1; i < variables.size(); ++i) write_one(h, variables[i], iterations, rank);
        if (rank != 1) write_one(h, variables[0], iterations, rank);
        if (rank == 1 && ok(halcyon_describe(h, variables[0].c_str(), 0, &info)) &&
            ok(halcyon_alloc(h, variables[0].c_str(), 0, &data)))
            std::memset(data, 1, static_cast<size_t>(info.bytes));
    }
    const bool finalize_first = number("finalize_first", 0) != 0;
    if (finalize_first) {
        MPI_Finalize();
        for (const std::string& name : variables) write_one(h, name, iterations, rank);
        ok(halcyon_end_iteration(h));
    }
    ok(halcyon_stats(h, &stats));
    const bool vanish = number("vanish", 0) != 0;
    const bool closed = !vanish && ok(halcyon_close(&h));
    std::printf(
        "{\"rank\": %d, \"blocks\": %lu, \"bytes\": %lu, \"skipped\": %lu, \"spilled\": %lu, \"inlined\": %lu, "
        "\"restarts\": %lu, \"arena\": %lu, \"free\": %lu, \"blocked_ns\": %lu, \"closed\": %s, \"error\": \"%s\", "
        "\"notice\": \"%s\"}\n",
        rank, stats.blocks, stats.bytes, stats.skipped_blocks, stats.spilled_blocks, stats.inlined_blocks,
        stats.server_restarts, stats.arena_bytes, stats.arena_free_bytes, stats.blocked_ns, closed ? "true" : "false",
        first_error.c_str(), first_notice.c_str());
    if (vanish) {
        std::fflush(stdout);
        ::_exit(first_error.empty() ? 0 : 1);
    }
    // Launchers kill the other ranks when one ends with an error, which they would not have done storing.
    if (finalize_first) return 0;
    MPI_Finalize();
    return first_error.empty() ? 0 : 1;
}
