#include "logfs/container/writing/writer_identity.hpp"

#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "base/node_identity.hpp"

namespace halcyon::logfs {

void writer_identity::set_host(std::string_view name) {
    std::memset(host, 0, sizeof host);
    std::memcpy(host, name.data(), std::min(name.size(), sizeof host - 1));
}

writer_identity writer_identity::of_this_process() {
    writer_identity me;
    me.set_host(host_name());
    // Without the end of the line, so that it is the one that the file backend knows.
    const node_identity node = node_identity::of_this_process();
    const std::string_view boot(node.boot_id.data(), strnlen(node.boot_id.data(), node.boot_id.size()));
    boot.substr(0, boot.find('\n')).copy(me.boot_id, sizeof me.boot_id - 1);
    me.pid = ::getpid();
    me.clock_bound_ns = logfs::clock_bound_ns();
    return me;
}

int64_t clock_bound_ns() {
    constexpr int64_t undisciplined_ns = 16'000'000'000;
    timex state{};
    if (::adjtimex(&state) < 0) return undisciplined_ns;
    return std::min(int64_t{state.maxerror} * 1000, undisciplined_ns);
}

}  // namespace halcyon::logfs
