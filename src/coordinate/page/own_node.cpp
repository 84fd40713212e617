#include "coordinate/page/own_node.hpp"

#include "calls/state/direct_call.hpp"

namespace halcyon::coordinate {
namespace direct = calls::direct;

node_identity own_node() {
    node_identity me;
    const int fd = direct::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        direct::read(fd, me.boot_id.data(), me.boot_id.size() - 1);
        direct::close(fd);
    }
    struct stat about {};
    const char* const path = "/proc/self/ns/net";
    if (direct::call(SYS_newfstatat, AT_FDCWD, direct::address(path), direct::address(&about), 0) == 0)
        me.network_namespace = about.st_ino;
    return me;
}

}  // namespace halcyon::coordinate
