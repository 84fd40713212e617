#include "logfs/mount/state/names.hpp"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "logfs/container/directory/replacement.hpp"
#include "logfs/mount/requests/request.hpp"
#include "logfs/mount/requests/status.hpp"
#include "logfs/mount/state/acting_as.hpp"

/// Requests about names: what has them, who gets them, who loses them.
namespace halcyon::logfs {
namespace {

/// A name in a folder, and what has it.
struct named {
    node& of;
    const char* name;
    place folder{};
    bool is_there = false;
    file_key key{};
    node_kind kind = node_kind::other;
    bool is_last_name = true;
};

/// 0, also where nothing has the name.
int look(mounted& in, named& at) {
    if (is_hidden(at.name)) return ENOENT;
    if (const int failed = in.nodes.at(at.of, at.folder); failed != 0) return failed;
    descriptor fd;
    struct stat status {};
    const int failed = in.nodes.look(at.folder->get(), at.name, fd, status);
    if (failed != 0) return failed == ENOENT ? 0 : failed;
    at.is_there = true;
    at.key = key_of(status);
    at.kind = kind_of(fd.get(), status);
    at.is_last_name = S_ISDIR(status.st_mode) || status.st_nlink <= 1;
    return 0;
}

/// Takes a container's name, which it has by now, as the program; and all of it, as its owner, unless somebody uses it.
int remove_container(fuse_req_t request, const place& folder, const char* name, const file_key& key) {
    mounted& in = mount_of(request);
    discarded what;
    int failed = 0;
    {
        const acting_as program(caller_of(request, in.options.is_for_all_users));
        failed = in.removed.discard(folder, name, what);
    }
    if (failed != 0) return failed;
    in.nodes.gone(key);
    if (in.containers.remove_later(key, what)) return 0;
    if (auto removed = remove(what); !removed) in.log.say(removed.why().message);
    return 0;
}

/// Removes what was found, which has this name by now.
int remove_file(fuse_req_t request, const named& what, const place& folder, const char* name) {
    mounted& in = mount_of(request);
    if (what.kind == node_kind::container) return remove_container(request, folder, name, what.key);
    const acting_as program(caller_of(request, in.options.is_for_all_users));
    if (::unlinkat(folder->get(), name, 0) != 0) return errno;
    if (what.is_last_name) in.nodes.gone(what.key);
    return 0;
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    mounted& in = mount_of(request);
    if (!is_hidden(name)) {
        reply_entry(request, node_of(in, parent), name);
    } else if (parent == FUSE_ROOT_ID && name == about_name) {
        fuse_entry_param entry;
        fill_about(in, entry);
        ::fuse_reply_entry(request, &entry);
    } else {
        ::fuse_reply_err(request, ENOENT);
    }
}

void forget(fuse_req_t request, fuse_ino_t number, uint64_t lookups) {
    mounted& in = mount_of(request);
    in.nodes.forget(node_of(in, number), lookups);
    ::fuse_reply_none(request);
}

void forget_multi(fuse_req_t request, size_t count, fuse_forget_data* forgets) {
    mounted& in = mount_of(request);
    for (size_t i = 0; i < count; ++i) in.nodes.forget(node_of(in, forgets[i].ino), forgets[i].nlookup);
    ::fuse_reply_none(request);
}

void readlink(fuse_req_t request, fuse_ino_t number) {
    mounted& in = mount_of(request);
    node& of = node_of(in, number);
    if (of.kind() == node_kind::about) {
        ::fuse_reply_readlink(request, std::to_string(::getpid()).c_str());
        return;
    }
    place at;
    std::array<char, PATH_MAX + 1> target;
    int failed = in.nodes.at(of, at);
    const ssize_t bytes = failed == 0 ? ::readlinkat(at->get(), "", target.data(), target.size()) : -1;
    if (failed == 0 && bytes < 0) failed = errno;
    if (failed == 0 && bytes == static_cast<ssize_t>(target.size())) failed = ENAMETOOLONG;
    if (failed != 0) {
        ::fuse_reply_err(request, failed);
        return;
    }
    target[static_cast<size_t>(bytes)] = '\0';
    ::fuse_reply_readlink(request, target.data());
}

/// `make(folder)` creates what the name says as the system's calls do: not 0 and errno where it fails.
template <class Make>
void make_entry(fuse_req_t request, fuse_ino_t parent, const char* name, Make make) {
    mounted& in = mount_of(request);
    node& folder = node_of(in, parent);
    place at;
    int failed = is_hidden(name) ? EPERM : in.nodes.at(folder, at);
    if (failed == 0) {
        const acting_as program(caller_of(request, in.options.is_for_all_users));
        if (make(at->get()) != 0) failed = errno;
    }
    if (failed == 0)
        reply_entry(request, folder, name);
    else
        ::fuse_reply_err(request, failed);
}

void mknod(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t device) {
    mounted& in = mount_of(request);
    make_entry(request, parent, name, [&](int folder) {
        if (!S_ISREG(mode) || !in.options.new_files_are_containers) return ::mknodat(folder, name, mode, device);
        const std::string path = in.nodes.path_of(node_of(in, parent)) + "/" + name;
        const auto made = with_room(in, [&] { return in.containers.create(folder, name, mode & 07777, path); });
        if (!made) errno = noted(in, made.why());
        return made ? 0 : -1;
    });
}

void mkdir(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
    make_entry(request, parent, name, [&](int folder) { return ::mkdirat(folder, name, mode); });
}

void symlink(fuse_req_t request, const char* target, fuse_ino_t parent, const char* name) {
    make_entry(request, parent, name, [&](int folder) { return ::symlinkat(target, folder, name); });
}

void link(fuse_req_t request, fuse_ino_t number, fuse_ino_t new_parent, const char* new_name) {
    mounted& in = mount_of(request);
    node& of = node_of(in, number);
    place at;
    // A directory has one name.
    int failed = of.is_container() || of.kind() == node_kind::about || is_hidden(new_name) ? EPERM : 0;
    if (failed == 0) failed = in.nodes.at(of, at);
    if (failed != 0) {
        ::fuse_reply_err(request, failed);
        return;
    }
    const std::string path = "/proc/self/fd/" + std::to_string(at->get());
    make_entry(request, new_parent, new_name,
               [&](int folder) { return ::linkat(AT_FDCWD, path.c_str(), folder, new_name, AT_SYMLINK_FOLLOW); });
}

void unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
    mounted& in = mount_of(request);
    named what{node_of(in, parent), name};
    int failed = look(in, what);
    if (failed == 0) failed = what.is_there ? remove_file(request, what, what.folder, name) : ENOENT;
    ::fuse_reply_err(request, failed);
}

void rmdir(fuse_req_t request, fuse_ino_t parent, const char* name) {
    mounted& in = mount_of(request);
    named what{node_of(in, parent), name};
    int failed = look(in, what);
    if (failed == 0 && !what.is_there) failed = ENOENT;
    if (failed == 0 && what.kind != node_kind::folder) failed = ENOTDIR;
    if (failed == 0) {
        const acting_as program(caller_of(request, in.options.is_for_all_users));
        if (::unlinkat(what.folder->get(), name, AT_REMOVEDIR) != 0) failed = errno;
    }
    if (failed == 0) in.nodes.gone(what.key);
    ::fuse_reply_err(request, failed);
}

/// Whether who this thread acts as may take this name from its folder, or give it to another file there.
bool may_change(const named& what) {
    if (::syscall(SYS_faccessat2, what.folder->get(), ".", W_OK | X_OK, AT_EACCESS) != 0) return false;
    struct stat folder {};
    struct stat file {};
    if (::fstatat(what.folder->get(), ".", &folder, 0) != 0) return false;
    if ((folder.st_mode & S_ISVTX) == 0 || !what.is_there) return true;
    if (::fstatat(what.folder->get(), what.name, &file, AT_SYMLINK_NOFOLLOW) != 0) return false;
    const auto user = static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1)));
    return user == folder.st_uid || user == file.st_uid;
}

/// What `give` renames, as the program does; 0, or an errno. From one folder to another the system takes directories
/// only of those who may write to them, and files of all who may write to both folders.
template <class Give>
int as_program(fuse_req_t request, const named& from, const named& to, Give give) {
    const acting_as program(caller_of(request, mount_of(request).options.is_for_all_users));
    const int failed = give();
    const bool are_files = from.kind != node_kind::folder && (!to.is_there || to.kind != node_kind::folder);
    if (failed != EACCES || !acts_as_another() || !are_files || !may_change(from) || !may_change(to)) return failed;
    const acting_as itself(nullptr);
    return give();
}

int move(fuse_req_t request, const named& from, const named& to, unsigned flags) {
    return as_program(request, from, to, [&] {
        return ::renameat2(from.folder->get(), from.name, to.folder->get(), to.name, flags) == 0 ? 0 : errno;
    });
}

/// One of both is a container.
int replace(fuse_req_t request, const named& from, const named& to) {
    mounted& in = mount_of(request);
    replacement names(kernel_files(), {from.folder->get(), from.name}, {to.folder->get(), to.name});
    if (const int failed = as_program(request, from, to, [&] { return -names.make(); }); failed != 0) return failed;
    in.nodes.moved(from.key, to.of, to.name);
    const int failed = remove_file(request, to, names.is_exchange() ? from.folder : to.folder, names.replaced().name);
    if (failed != 0 && names.undo()) in.nodes.moved(from.key, from.of, from.name);
    return failed;
}

int move_name(fuse_req_t request, const named& from, const named& to, unsigned flags) {
    mounted& in = mount_of(request);
    if (!from.is_there) return ENOENT;
    const bool is_same = to.is_there && from.key == to.key;
    const bool takes_place = to.is_there && !is_same && (flags & (RENAME_NOREPLACE | RENAME_EXCHANGE)) == 0;
    if (takes_place && (from.kind == node_kind::container || to.kind == node_kind::container)) {
        if (to.kind == node_kind::folder) return EISDIR;
        if (from.kind == node_kind::folder) return ENOTDIR;
        return replace(request, from, to);
    }
    if (const int failed = move(request, from, to, flags); failed != 0) return failed;
    if (is_same) return 0;
    in.nodes.moved(from.key, to.of, to.name);
    if ((flags & RENAME_EXCHANGE) != 0)
        in.nodes.moved(to.key, from.of, from.name);
    else if (takes_place && to.is_last_name)
        in.nodes.gone(to.key);
    return 0;
}

void rename(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent, const char* new_name,
            unsigned flags) {
    mounted& in = mount_of(request);
    named from{node_of(in, parent), name};
    named to{node_of(in, new_parent), new_name};
    int failed = is_hidden(new_name) ? EPERM : look(in, from);
    if (failed == 0) failed = look(in, to);
    if (failed == 0) failed = move_name(request, from, to, flags);
    ::fuse_reply_err(request, failed);
}

}  // namespace

void add_name_requests(fuse_lowlevel_ops& to) {
    to.lookup = safely<lookup>::call;
    to.forget = safely<forget>::call;
    to.forget_multi = safely<forget_multi>::call;
    to.readlink = safely<readlink>::call;
    to.mknod = safely<mknod>::call;
    to.mkdir = safely<mkdir>::call;
    to.symlink = safely<symlink>::call;
    to.link = safely<link>::call;
    to.unlink = safely<unlink>::call;
    to.rmdir = safely<rmdir>::call;
    to.rename = safely<rename>::call;
}

}  // namespace halcyon::logfs
