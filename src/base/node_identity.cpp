#include "base/node_identity.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace halcyon {

namespace {

/// 0: not known.
uint64_t namespace_of_this_process(const char* path) {
    struct stat about {};
    return ::stat(path, &about) == 0 ? about.st_ino : 0;
}

}  // namespace

node_identity node_identity::of_this_process() {
    node_identity me;
    std::ifstream("/proc/sys/kernel/random/boot_id").read(me.boot_id.data(), me.boot_id.size() - 1);
    me.network_namespace = namespace_of_this_process("/proc/self/ns/net");
    return me;
}

uint64_t pid_namespace() {
    return namespace_of_this_process("/proc/self/ns/pid");
}

uint64_t time_namespace() {
    return namespace_of_this_process("/proc/self/ns/time");
}

std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

}  // namespace halcyon
