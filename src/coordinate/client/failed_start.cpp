#include "coordinate/client/failed_start.hpp"

#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

#include "calls/state/direct_call.hpp"
#include "coordinate/client/page_access.hpp"
#include "coordinate/page/node_name.hpp"
#include "coordinate/page/own_node.hpp"

namespace halcyon::coordinate::page_access::failed_start {
namespace direct = calls::direct;

namespace {

constexpr long long pause_ns = 30'000'000'000;

/// All processes of the node have it, and it starts anew with the node.
long long now_ns() {
    timespec now{};
    direct::call(SYS_clock_gettime, CLOCK_BOOTTIME, direct::address(&now));
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

bool is_recent(long long at_ns) {
    const long long now = now_ns();
    return at_ns > 0 && at_ns <= now && now - at_ns < pause_ns;
}

// Stacks may be small.
char file[1300], beside[1320], text[900];
struct {
    long long at_ns;
    char job[sizeof(job_identity::name)];
    char why[800];
} remembered;

/// Whether there is a folder; then `file` is named.
bool name_file(const settings& wanted) {
    if (*wanted.facts == '\0') return false;
    utsname node{};
    direct::call(SYS_uname, direct::address(&node));
    char job[100];
    wanted.job.name_socket(job, sizeof job);
    const int length = snprintf(file, sizeof file, "%s/%.64s-%016llx.%s.no-agent", wanted.facts, node.nodename,
                                static_cast<unsigned long long>(node_mark(own_node())), job);
    return length > 0 && static_cast<size_t>(length) < sizeof file;
}

/// "TIME WHY"; null: no, or long ago.
const char* read_file() {
    const int fd = direct::open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return nullptr;
    const ssize_t bytes = direct::read(fd, text, sizeof text - 1);
    direct::close(fd);
    if (bytes <= 0) return nullptr;
    text[bytes] = '\0';
    long long at_ns = 0;
    int begins = 0;
    if (sscanf(text, "%lld %n", &at_ns, &begins) != 1 || begins == 0 || !is_recent(at_ns)) return nullptr;
    return text + begins;
}

}  // namespace

const char* recent(const settings& wanted) {
    if (is_recent(remembered.at_ns) && std::strcmp(remembered.job, wanted.job.name) == 0) return remembered.why;
    return name_file(wanted) ? read_file() : nullptr;
}

void note(const settings& wanted, const char* why) {
    remembered.at_ns = now_ns();
    snprintf(remembered.job, sizeof remembered.job, "%s", wanted.job.name);
    snprintf(remembered.why, sizeof remembered.why, "%s", why);
    if (!name_file(wanted)) return;
    // Others read it meanwhile: they find all of it, or nothing.
    snprintf(beside, sizeof beside, "%s.%d", file, direct::process_id());
    const int fd = direct::open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) return;
    const int length = snprintf(text, sizeof text, "%lld %s", remembered.at_ns, remembered.why);
    const bool whole = direct::pwrite(fd, text, static_cast<size_t>(length), 0) == length;
    direct::close(fd);
    if (!whole ||
        direct::call(SYS_renameat2, AT_FDCWD, direct::address(beside), AT_FDCWD, direct::address(file), 0) < 0)
        direct::unlink(beside);
}

void forget(const settings& wanted) {
    remembered.at_ns = 0;
    if (name_file(wanted)) direct::unlink(file);
}

}  // namespace halcyon::coordinate::page_access::failed_start
