#include "logfs/mount/state/caller.hpp"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace halcyon::logfs {
namespace {

std::vector<gid_t> groups_of_this_thread() {
    std::vector<gid_t> groups(static_cast<size_t>(std::max(::getgroups(0, nullptr), 0)));
    const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
    groups.resize(static_cast<size_t>(std::max(count, 0)));
    return groups;
}

/// Asked for before any thread takes those of others.
const std::vector<gid_t>& own_groups() {
    static const std::vector<gid_t> mine = groups_of_this_thread();
    return mine;
}

/// None where the system does not say them.
std::vector<gid_t> groups_of(fuse_req_t request) {
    std::vector<gid_t> groups(32);
    for (;;) {
        const int count = ::fuse_req_getgroups(request, static_cast<int>(groups.size()), groups.data());
        const bool is_all = count <= static_cast<int>(groups.size());
        groups.resize(static_cast<size_t>(std::max(count, 0)));
        if (is_all) return groups;
    }
}

/// Of this thread alone.
void set_groups(const std::vector<gid_t>& groups) {
    ::syscall(SYS_setgroups, groups.size(), groups.data());
}

}  // namespace

as_caller::as_caller(fuse_req_t request, bool is_for_all_users) {
    const fuse_ctx* const caller = ::fuse_req_ctx(request);
    if (!is_for_all_users || ::geteuid() != 0 || (caller->uid == 0 && caller->gid == 0)) return;
    static_cast<void>(own_groups());
    const std::vector<gid_t> groups = groups_of(request);
    is_another_ = true;
    set_groups(groups);
    ::setfsgid(caller->gid);
    ::setfsuid(caller->uid);
}

void as_caller::end() {
    if (!is_another_) return;
    is_another_ = false;
    ::setfsuid(::geteuid());
    ::setfsgid(::getegid());
    set_groups(own_groups());
}

}  // namespace halcyon::logfs
