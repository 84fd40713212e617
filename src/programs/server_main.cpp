// halcyon-server: the process that serves the clients of one node. Started by the first client of the node, or by
// another when it died; never calls MPI.

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/unix_socket.hpp"
#include "offload/segment/session_document.hpp"
#include "programs/server_core.hpp"

using namespace halcyon;
using namespace halcyon::offload;

namespace {

constexpr int ready_fd = 3;

/// Leaves the process that started this one in peace: descriptors would keep launchers waiting.
void detach_from_starter() {
    ::syscall(SYS_close_range, ready_fd + 1, ~0U, 0);
    const pid_t child = ::fork();
    if (child != 0) ::_exit(child > 0 ? 0 : 1);
    ::setsid();
    if (::chdir("/") != 0) ::_exit(1);
    // A terminal's or batch system's hang-up and interrupt are meant for the simulation: the server drains when its
    // clients are gone.
    // A file that may not grow is an error of that file.
    for (const int s : {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(s, SIG_IGN);
    // Two or three descriptors for each client: the usual limit is meant for other programs.
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    ::prctl(PR_SET_NAME, "halcyon-server");
}

const char* value_of(int argc, char** argv, const char* option) {
    for (int i = 1; i + 1 < argc; ++i)
        if (std::strcmp(argv[i], option) == 0) return argv[i + 1];
    return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
    const char* session = value_of(argc, argv, "--session");
    const char* generation = value_of(argc, argv, "--generation");
    if (session == nullptr || generation == nullptr) {
        std::fprintf(stderr,
                     "halcyon-server serves the clients of one node. It is started by halcyon_open, not by hand.\n"
                     "usage: halcyon-server --session ID --generation N   (descriptor 3: told when it listens)\n");
        return 2;
    }
    detach_from_starter();
    const auto number = static_cast<uint32_t>(std::strtoul(generation, nullptr, 10));
    auto listening = listen_abstract(socket_name(session, number), 4096);
    const char answer = listening ? '1' : '0';
    const bool told = ::write(ready_fd, &answer, 1) == 1;
    ::close(ready_fd);
    if (!listening || !told) return 1;
    return serve_node(std::move(*listening), number, nullptr, nullptr);
}
