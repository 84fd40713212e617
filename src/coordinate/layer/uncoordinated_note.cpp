#include "coordinate/layer/uncoordinated_note.hpp"

#include <stdio.h>
#include <sys/utsname.h>

#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"
#include "coordinate/page/process_life.hpp"

namespace halcyon::coordinate {
namespace direct = calls::direct;

void note_uncoordinated(const char* folder, const char* why) {
    if (*folder == '\0') return;
    utsname node{};
    direct::call(SYS_uname, direct::address(&node));
    const int pid = direct::process_id();
    static char path[1200], text[900];  // stacks may be small
    const int length = snprintf(path, sizeof path, "%.1000s/%.64s.%llu.%d.%llu.uncoordinated", folder, node.nodename,
                                static_cast<unsigned long long>(own_pid_namespace()), pid,
                                static_cast<unsigned long long>(start_of_process(pid)));
    const int said = snprintf(text, sizeof text, "%.890s\n", why);
    if (length <= 0 || said <= 0) return;
    // What cannot be written here is on standard error all the same.
    const int fd = calls::descriptors::open_out_of_the_way(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0) return;
    direct::pwrite(fd, text, static_cast<size_t>(said), 0);
    direct::close(fd);
}

}  // namespace halcyon::coordinate
