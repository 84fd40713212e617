#include "logfs/mount/requests/status.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "logfs/mount/requests/request.hpp"

namespace halcyon::logfs {
namespace {

/// The kernel forgets what it knows of a file's status with each write through it.
int64_t age_of_status(const shared_file& of) {
    constexpr int64_t second_ns = 1'000'000'000;
    return of.has_written() ? second_ns : 0;
}

result<void> container_status(mounted& in, node& of, const place& at, struct stat& out) {
    const auto file = take(in, of, at);
    if (!file) return file.why();
    return (*file)->status(age_of_status(**file), out);
}

void status_of_about(struct stat& out) {
    out = {};
    out.st_ino = 1;
    out.st_mode = S_IFLNK | 0777;
    out.st_nlink = 1;
    out.st_uid = ::geteuid();
    out.st_gid = ::getegid();
    out.st_size = static_cast<off_t>(std::to_string(::getpid()).size());
}

}  // namespace

int status_of(mounted& in, node& of, struct stat& out) {
    if (of.kind() == node_kind::about) {
        status_of_about(out);
        return 0;
    }
    place at;
    if (const int failed = in.nodes.at(of, at); failed != 0) return failed;
    if (!of.is_container()) return ::fstatat(at->get(), "", &out, AT_EMPTY_PATH) == 0 ? 0 : errno;
    const auto done = container_status(in, of, at, out);
    return done ? 0 : noted(in, done.why());
}

int make_entry(mounted& in, node& folder, const char* name, fuse_entry_param& out) {
    out = {};
    node* found = nullptr;
    if (const int failed = in.nodes.look_up(folder, name, found, out.attr); failed != 0) return failed;
    out.ino = number_of(in, *found);
    out.attr_timeout = out.entry_timeout = kernel_remembers_s;
    if (!found->is_container()) return 0;
    if (status_of(in, *found, out.attr) != 0) {
        out.attr.st_mode = S_IFREG | (out.attr.st_mode & 0666);
        out.attr.st_nlink = 1;
        out.attr.st_size = out.attr.st_blocks = 0;
        out.attr_timeout = 0;
    }
    return 0;
}

void reply_entry(fuse_req_t request, node& folder, const char* name) {
    mounted& in = mount_of(request);
    fuse_entry_param entry;
    if (const int failed = make_entry(in, folder, name, entry); failed != 0) {
        ::fuse_reply_err(request, failed);
        return;
    }
    node& found = node_of(in, entry.ino);
    // The program was killed meanwhile: then the kernel does not know it.
    if (::fuse_reply_entry(request, &entry) != 0) in.nodes.forget(found, 1);
}

void fill_about(mounted& in, fuse_entry_param& out) {
    out = {};
    out.ino = number_of(in, in.nodes.about());
    out.attr_timeout = out.entry_timeout = kernel_remembers_s;
    status_of_about(out.attr);
}

}  // namespace halcyon::logfs
