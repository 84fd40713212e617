#include "logfs/mount/state/acting_as.hpp"

#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"

namespace halcyon::logfs {
namespace {

using identity = std::shared_ptr<const user_identity>;

/// Null: this process.
thread_local const user_identity* acting = nullptr;

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

/// Of a program. None where the system does not say them.
std::vector<gid_t> groups_of(fuse_req* request) {
    std::vector<gid_t> groups(32);
    for (;;) {
        const int count = ::fuse_req_getgroups(request, static_cast<int>(groups.size()), groups.data());
        const bool is_all = count <= static_cast<int>(groups.size());
        groups.resize(static_cast<size_t>(std::max(count, 0)));
        if (is_all) return groups;
    }
}

/// That the system has written down for a user.
std::vector<gid_t> known_groups_of(uid_t user, gid_t group) {
    std::vector<char> room(16384);
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(user, &entry, room.data(), room.size(), &found) != 0 || found == nullptr) return {};
    std::vector<gid_t> groups(64);
    for (;;) {
        int count = static_cast<int>(groups.size());
        const bool is_all = ::getgrouplist(found->pw_name, group, groups.data(), &count) >= 0;
        groups.resize(static_cast<size_t>(std::max(count, 0)));
        if (is_all) return groups;
    }
}

/// Of this thread alone.
void set_groups(const std::vector<gid_t>& groups) {
    ::syscall(SYS_setgroups, groups.size(), groups.data());
}

void become(const user_identity* who) {
    const uid_t user = who != nullptr ? who->user : ::geteuid();
    // Its rights of a superuser go with the user, and come back with it: first, where they are needed for the rest.
    if (user == 0) ::setfsuid(user);
    set_groups(who != nullptr ? who->groups : own_groups());
    ::setfsgid(who != nullptr ? who->group : ::getegid());
    if (user != 0) ::setfsuid(user);
    acting = who;
}

/// At what a directory has by this name.
bool look_inside(int directory, const char* name, struct stat& out) {
    return ::fstatat(directory, name, &out, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

acting_as::acting_as(identity who) : who_(std::move(who)), before_(acting) {
    if (who_.get() == before_) return;
    static_cast<void>(own_groups());
    become(who_.get());
    const uid_t wanted = who_ ? who_->user : ::geteuid();
    // It returns what the thread had: no user has the number -1, so that nothing changes.
    if (static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) == wanted) return;
    become(before_);
    throw std::system_error(EPERM, std::generic_category(), "cannot act as user " + std::to_string(wanted));
}

acting_as::~acting_as() {
    if (who_.get() != before_) become(before_);
}

bool acts_as_another() {
    return acting != nullptr;
}

identity caller_of(fuse_req* request, bool is_for_all_users) {
    const fuse_ctx* const caller = ::fuse_req_ctx(request);
    if (!is_for_all_users || ::geteuid() != 0 || (caller->uid == 0 && caller->gid == 0)) return nullptr;
    return std::make_shared<const user_identity>(user_identity{caller->uid, caller->gid, groups_of(request)});
}

result<identity> owner_of_container(int directory) {
    if (::geteuid() != 0) return identity();
    struct stat whole {};
    struct stat marker {};
    if (!look_inside(directory, "", whole)) return system_failure("a container's directory", errno);
    const bool is_marked = look_inside(directory, marker_name.data(), marker) ||
                           look_inside(directory, plfs_access_name.data(), marker);
    if (!is_marked) marker = whole;
    const uid_t user = whole.st_uid != 0 ? whole.st_uid : marker.st_uid;
    if (marker.st_uid != user && marker.st_uid != 0)
        return failure{error_kind::config,
                       "its directory belongs to user " + std::to_string(whole.st_uid) + ", its marker to user " +
                           std::to_string(marker.st_uid) + "; expected one owner",
                       EACCES};
    if (user == 0) return identity();
    return std::make_shared<const user_identity>(
        user_identity{user, whole.st_gid, known_groups_of(user, whole.st_gid)});
}

}  // namespace halcyon::logfs
