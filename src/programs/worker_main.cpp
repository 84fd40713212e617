// halcyon-worker: the process in which one plugin of a shared library runs. Started by a server, and ends with it.

#include <sys/socket.h>

#include <cstdio>

#include "insitu/worker/worker.hpp"
#include "offload/actions/module_plugin.hpp"

using namespace halcyon;

int main() {
    int type = 0;
    socklen_t length = sizeof type;
    if (::getsockopt(insitu::server_socket, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_SEQPACKET) {
        std::fprintf(stderr, "halcyon-worker runs a plugin for a server. It is started by the server, not by hand.\n");
        return 2;
    }
    insitu::become_worker("halcyon-worker");
    return insitu::run_worker(descriptor(insitu::server_socket), offload::load_module);
}
