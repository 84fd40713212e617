// halcyon-server: the process that serves the clients of one node. Started by the first client of the node, or by
// another when it died; never calls MPI.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/detached_start.hpp"
#include "base/unix_socket.hpp"
#include "offload/segment/session_document.hpp"
#include "programs/server_core.hpp"
#include "programs/turns_of_job.hpp"

using namespace halcyon;
using namespace halcyon::offload;

namespace {

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
    detach_from_starter("halcyon-server");
    const auto number = static_cast<uint32_t>(std::strtoul(generation, nullptr, 10));
    auto listening = listen_abstract(socket_name(session, number), 4096);
    const bool told = tell_starter(listening ? result<void>() : listening.why());
    if (!listening || !told) return 1;
    return serve_node(std::move(*listening), number, nullptr, nullptr, turns_of_job);
}
