// halcyon-server-world: the servers of a job as one MPI world, one process per node, started by `halcyon run` before
// the simulation. Each listens for the clients of its node in the session that HALCYON_SESSION names. The world ends
// when the session has ended on all nodes; a server that gets no client waits until standard input ends.

#include <mpi.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "base/node_identity.hpp"
#include "base/unix_socket.hpp"
#include "offload/segment/session_document.hpp"
#include "programs/mpi_job_events.hpp"
#include "programs/server_core.hpp"
#include "programs/shared_file/shared_files_of.hpp"

using namespace halcyon;
using namespace halcyon::offload;

namespace {

constexpr uint32_t first_generation = 1;

/// Becomes readable, for good, when it is set.
class flag {
  public:
    void set() const {
        const uint64_t one = 1;
        static_cast<void>(!::write(fd_.get(), &one, sizeof one));
    }
    [[nodiscard]] int fd() const { return fd_.get(); }

  private:
    descriptor fd_{::eventfd(0, EFD_CLOEXEC)};
};

/// True when `wanted` became readable first, false when `stop` did.
bool readable_before(int wanted, int stop) {
    while (true) {
        pollfd waits[] = {{wanted, POLLIN, 0}, {stop, POLLIN, 0}};
        if (::poll(waits, 2, -1) < 0) continue;
        if (waits[0].revents != 0) return true;
        if (waits[1].revents != 0) return false;
    }
}

/// Serves the clients of this node, if any come before `abandoned`.
int serve_if_clients_come(descriptor listening, const flag& abandoned, mpi_job_events& events, shared_files* files) {
    if (!readable_before(listening.get(), abandoned.fd())) {
        events.leave();
        return 0;
    }
    const int status = serve_node(std::move(listening), first_generation, &events, files, [] {
        return std::make_unique<turns_not_taken>(
            "turns: coordinator: the servers of a server world take no turns, since one that waits in the midst of a "
            "file that all write together would hold up the others; without --servers-per-node, servers take turns");
    });
    // A server that could not start has not said so, and will run no event.
    static_cast<void>(events.finish(INT64_MAX));
    return status;
}

/// Server 0: the end of standard input means that whoever started the world will start no client any more.
void watch_starter(const flag& stop, mpi_job_events& events) {
    char ignored[256];
    while (readable_before(STDIN_FILENO, stop.fd()))
        if (const ssize_t n = ::read(STDIN_FILENO, ignored, sizeof ignored); n == 0 || (n < 0 && errno != EINTR)) {
            events.abandon();
            return;
        }
}

/// Collective: true when all servers listen. Each that does not says why.
bool all_listen(const result<descriptor>& listening, int rank) {
    if (!listening)
        std::fprintf(
            stderr,
            "halcyon-server-world: server %d on %s: %s; a node has one server of a world, and a session one world\n",
            rank, host_name().c_str(), listening.why().message.c_str());
    int mine = listening ? 1 : 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

int run_world(const std::string& session) {
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    auto listening = listen_abstract(socket_name(session, first_generation), 4096);
    if (!all_listen(listening, rank)) return 1;
    if (rank == 0) {
        // `halcyon run` waits for this line.
        std::printf("halcyon-server-world: %d server(s) listen\n", size);
        std::fflush(stdout);
    }
    flag abandoned, stop;
    mpi_job_events events(MPI_COMM_WORLD, [&abandoned] { abandoned.set(); });
    const auto files = shared_files_of(MPI_COMM_WORLD, events);
    int status = 0;
    std::thread node([&] { status = serve_if_clients_come(std::move(*listening), abandoned, events, files.get()); });
    std::thread starter;
    if (rank == 0) starter = std::thread([&] { watch_starter(stop, events); });
    events.carry();
    node.join();
    stop.set();
    if (starter.joinable()) starter.join();
    events.wait_for_others();
    if (rank == 0 && !events.had_clients())
        std::fprintf(stderr, "halcyon-server-world: no client came: nothing was stored\n");
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--mpi") == 0) {
        std::printf("%s\n", HALCYON_MPI_NAME);
        return 0;
    }
    const char* session = std::getenv("HALCYON_SESSION");
    if (session == nullptr || argc != 1) {
        std::fprintf(stderr,
                     "halcyon-server-world serves the clients of a job, one process per node.\n"
                     "It is started by `halcyon run --servers-per-node 1 -- mpirun …`, not by hand.\n");
        return 2;
    }
    // A terminal's or batch system's hang-up and interrupt are meant for the simulation: servers drain when their
    // clients are gone.
    for (const int s : {SIGHUP, SIGINT, SIGTERM, SIGPIPE}) std::signal(s, SIG_IGN);
    ::prctl(PR_SET_NAME, "halcyon-world");
    // Of Open MPI's two ways to write files together, its own (4.1) can lose the error of a full disk: a collective
    // write then succeeds without its data. ROMIO, which MPICH has too, reports it. A user's choice wins.
    ::setenv("OMPI_MCA_io", "^ompio", 0);
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED) {
        std::fprintf(stderr, "halcyon-server-world: this MPI allows no threads beside the one that calls it\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const int status = run_world(session);
    MPI_Finalize();
    return status;
}
