#include "base/node_identity.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace halcyon {

node_identity node_identity::of_this_process() {
    node_identity me;
    std::ifstream("/proc/sys/kernel/random/boot_id").read(me.boot_id.data(), me.boot_id.size() - 1);
    struct stat about {};
    if (::stat("/proc/self/ns/net", &about) == 0) me.network_namespace = about.st_ino;
    return me;
}

std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

}  // namespace halcyon
