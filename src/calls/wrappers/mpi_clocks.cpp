#include "calls/wrappers/mpi_clocks.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/clock.hpp"
#include "calls/wrappers/mpi_library.hpp"

namespace halcyon::calls::mpi {
namespace {

constexpr int tag = 30'211;  // below the least upper bound that the standard allows (32,767)
constexpr int64_t rank_0_collects_ns = 5'000'000'000;
constexpr int64_t others_wait_ns = 12'000'000'000;
constexpr int rounds = 32;
constexpr int most_nodes = 4096;
constexpr size_t longest_path = 3072;

struct announcement {
    int32_t rank;
    int32_t ranks_of_node;
};

/// Ranks whose nodes are compared with rank 0's. In others than rank 0 only the count matters: 1 if it is one of them.
int compared[most_nodes];
int compared_count = 0;

/// A number that the launcher tells each process in one of these variables; -1 where none is set.
int told_by_launcher(const char* const* names) {
    for (; *names != nullptr; ++names) {
        if (const char* value = getenv(*names)) return static_cast<int>(strtol(value, nullptr, 10));
    }
    return -1;
}

int rank_on_node() {
    constexpr const char* names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", nullptr};
    return told_by_launcher(names);
}

int ranks_on_node() {
    constexpr const char* names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", nullptr};
    return told_by_launcher(names);
}

/// Tells one job apart from others of the same run. Empty: the launcher does not say.
const char* job() {
    for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_JOB_ID"}) {
        if (const char* value = getenv(name)) return value;
    }
    return "";
}

/// `<folder>/.clock.<job>.<rank>`; false where it does not fit.
bool path_of(char (&out)[longest_path], int rank) {
    char safe[128];
    size_t length = 0;
    for (const char* at = job(); *at != '\0' && length + 1 < sizeof safe; ++at) safe[length++] = *at == '/' ? '_' : *at;
    safe[length] = '\0';
    const int written = snprintf(out, sizeof out, "%s/.clock.%s.%d", shared_folder(), safe, rank);
    return written > 0 && static_cast<size_t>(written) < sizeof out;
}

bool announce(const announcement& mine) {
    char path[longest_path];
    char ready[longest_path + 8];
    if (!path_of(path, mine.rank)) return false;
    // Whole or not at all: by rename.
    snprintf(ready, sizeof ready, "%s.new", path);
    const int fd = direct::open(ready, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    const bool written = direct::pwrite(fd, &mine, sizeof mine, 0) == sizeof mine;
    direct::close(fd);
    return written &&
           direct::call(SYS_renameat2, AT_FDCWD, direct::address(ready), AT_FDCWD, direct::address(path), 0) == 0;
}

bool read_announcement(int rank, announcement& out) {
    char path[longest_path];
    if (!path_of(path, rank)) return false;
    const int fd = direct::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool whole = direct::read(fd, &out, sizeof out) == sizeof out && out.rank == rank;
    direct::close(fd);
    return whole;
}

void withdraw(int rank) {
    char path[longest_path];
    if (path_of(path, rank)) direct::unlink(path);
}

bool send(const void* data, int bytes, int to) {
    return ask(HALCYON_PMPI(Send, (const void*, int, handle, int, int, handle)), data, bytes, byte_type(), to, tag,
               world()) == success;
}

bool receive(void* data, int bytes, int from) {
    status_room status;
    return ask(HALCYON_PMPI(Recv, (void*, int, handle, int, int, handle, void*)), data, bytes, byte_type(), from, tag,
               world(), static_cast<void*>(&status)) == success;
}

/// Waits for a message of rank 0, no longer than others_wait_ns.
bool message_comes() {
    const int64_t limit = monotonic_ns() + others_wait_ns;
    status_room status;
    int there = 0;
    while (there == 0 && monotonic_ns() < limit) {
        const auto probe = HALCYON_PMPI(Iprobe, (int, int, handle, int*, void*));
        if (ask(probe, 0, tag, world(), &there, static_cast<void*>(&status)) != success) return false;
        if (there == 0) direct::yield();
    }
    return there != 0;
}

struct comparison {
    int64_t offset_ns;  // the other clock less this one
    int64_t error_ns;
    int64_t at_ns;  // by the other clock
};

/// In rank 0: asks `rank` for its time again and again; the answer that came fastest says it best.
void compare_with(int rank) {
    comparison best{0, INT64_MAX, 0};
    for (int round = 0; round < rounds; ++round) {
        const int64_t asked = monotonic_ns();
        int64_t theirs = 0;
        if (!send(&round, sizeof round, rank) || !receive(&theirs, sizeof theirs, rank)) return;
        const int64_t answered = monotonic_ns();
        const int64_t error = (answered - asked + 1) / 2;
        if (error < best.error_ns) best = {theirs - (asked + error), error, theirs};
    }
    send(&best, sizeof best, rank);
}

/// In the other: answers, and tells what came out.
void be_compared() {
    for (int round = 0; round < rounds; ++round) {
        int number = 0;
        if (!receive(&number, sizeof number, 0)) return;
        const int64_t mine = monotonic_ns();
        if (!send(&mine, sizeof mine, 0)) return;
    }
    comparison found{};
    if (!receive(&found, sizeof found, 0)) return;
    char text[96];
    const int length = snprintf(text, sizeof text, "%lld %lld %lld", static_cast<long long>(found.offset_ns),
                                static_cast<long long>(found.error_ns), static_cast<long long>(found.at_ns));
    const std::string_view value(text, static_cast<size_t>(length));
    this_process().layers.each([&](layer& l) { l.on_fact(0, "clock.offset", value); });
}

/// In rank 0: the first ranks of all nodes, as far as they have announced themselves in time. Launchers place ranks
/// node by node or in turn; others' nodes are not found, and keep the time of day as the only thing that relates them.
void collect(const announcement& mine, int ranks) {
    const int64_t limit = monotonic_ns() + rank_0_collects_ns;
    int known = mine.ranks_of_node;
    int last = 0;
    for (bool in_turn = false; known < ranks && compared_count < most_nodes && monotonic_ns() < limit;
         in_turn = !in_turn) {
        const int next = in_turn ? last + 1 : known;
        announcement other{};
        if (read_announcement(next, other)) {
            withdraw(next);
            known += other.ranks_of_node;
            last = next;
            compared[compared_count++] = next;
        } else if (in_turn) {
            direct::yield();
        }
    }
    withdraw(0);
}

void exchange(int rank) {
    const own_work ours;
    if (rank == 0) {
        for (int i = 0; i < compared_count; ++i) compare_with(compared[i]);
    } else if (compared_count > 0) {
        be_compared();
    }
}

int rank_in_world() {
    int rank = -1;
    return ask(HALCYON_PMPI(Comm_rank, (handle, int*)), world(), &rank) == success ? rank : -1;
}

}  // namespace

void align_clocks_at_start() {
    compared_count = 0;
    int ranks = 0;
    const int rank = rank_in_world();
    if (rank < 0 || ask(HALCYON_PMPI(Comm_size, (handle, int*)), world(), &ranks) != success) return;
    const int of_node = ranks_on_node();
    const bool first_of_node = rank_on_node() == 0;
    if (of_node <= 0 || of_node >= ranks || !(first_of_node || rank == 0) || *shared_folder() == '\0' ||
        *job() == '\0') {
        return;
    }
    const announcement mine{rank, of_node};
    if (!announce(mine)) return;
    if (rank == 0) {
        collect(mine, ranks);
    } else {
        compared_count = message_comes() ? 1 : 0;
        if (compared_count == 0) withdraw(rank);
    }
    exchange(rank);
}

void align_clocks_at_end() {
    if (compared_count > 0) exchange(rank_in_world());
    compared_count = 0;
}

}  // namespace halcyon::calls::mpi
