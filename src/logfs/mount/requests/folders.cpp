#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "logfs/mount/requests/request.hpp"
#include "logfs/mount/requests/status.hpp"
#include "logfs/mount/state/acting_as.hpp"
#include "logfs/mount/state/names.hpp"

/// Requests about what is in a folder.
namespace halcyon::logfs {
namespace {

/// A folder that a program reads. The kernel asks for it by one thread at a time.
struct open_folder {
    struct closing {
        void operator()(DIR* what) const { ::closedir(what); }
    };
    std::unique_ptr<DIR, closing> entries;
    off_t at = 0;                  // of the next entry
    const dirent* next = nullptr;  // was read, and did not fit
};

open_folder& open_folder_of(const fuse_file_info* info) {
    return *reinterpret_cast<open_folder*>(info->fh);
}

void opendir(fuse_req_t request, fuse_ino_t number, fuse_file_info* info) {
    mounted& in = mount_of(request);
    auto opened = std::make_unique<open_folder>();
    place at;
    int failed = in.nodes.at(node_of(in, number), at);
    if (failed == 0) {
        descriptor fd;
        const acting_as program(caller_of(request, in.options.is_for_all_users));
        const std::string path = "/proc/self/fd/" + std::to_string(at->get());
        failed = open_with_room(in, fd, [&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
        if (failed == 0) opened->entries.reset(::fdopendir(fd.get()));
        if (opened->entries)
            fd.release();
        else if (failed == 0)
            failed = errno;
    }
    if (failed != 0) {
        ::fuse_reply_err(request, failed);
        return;
    }
    info->fh = reinterpret_cast<uint64_t>(opened.get());
    ++in.open_files;
    if (::fuse_reply_open(request, info) == 0)
        static_cast<void>(opened.release());
    else
        --in.open_files;
}

/// The next one that programs see; null: the end, or errno is not 0.
const dirent* next_of(open_folder& from) {
    while (from.next == nullptr) {
        errno = 0;
        from.next = ::readdir(from.entries.get());
        if (from.next == nullptr) return nullptr;
        if (is_hidden(from.next->d_name)) {
            from.at = from.next->d_off;
            from.next = nullptr;
        }
    }
    return from.next;
}

struct seen {
    mode_t kind;
    bool is_container;
};

/// A container is a file.
seen look_at(const open_folder& in, const dirent& of) {
    const seen as_listed{static_cast<mode_t>(DTTOIF(of.d_type)), false};
    const std::string_view name(of.d_name);
    if ((of.d_type != DT_DIR && of.d_type != DT_UNKNOWN) || name == "." || name == "..") return as_listed;
    const descriptor fd(::openat(::dirfd(in.entries.get()), of.d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstatat(fd.get(), "", &status, AT_EMPTY_PATH) != 0) return as_listed;
    if (kind_of(fd.get(), status) == node_kind::container) return {S_IFREG, true};
    return {status.st_mode & S_IFMT, false};
}

/// Adds entries until the room is full; how many bytes they take.
///
/// Where the kernel wants to know all of each entry, it is told so of all but containers: their size takes looking into
/// them, which is done when a program asks for it.
size_t fill(mounted& in, fuse_req_t request, node& folder, open_folder& from, std::vector<char>& room, bool is_plus) {
    size_t filled = 0;
    while (const dirent* const each = next_of(from)) {
        fuse_entry_param entry{};
        entry.attr.st_ino = each->d_ino;
        const seen what = look_at(from, *each);
        entry.attr.st_mode = what.kind;
        const std::string_view name(each->d_name);
        const bool is_told = is_plus && name != "." && name != ".." && !what.is_container;
        if (is_told && make_entry(in, folder, each->d_name, entry) != 0) {
            // It was removed in this moment.
            from.at = each->d_off;
            from.next = nullptr;
            continue;
        }
        char* const to = room.data() + filled;
        const size_t left = room.size() - filled;
        const size_t bytes = is_plus ? ::fuse_add_direntry_plus(request, to, left, each->d_name, &entry, each->d_off)
                                     : ::fuse_add_direntry(request, to, left, each->d_name, &entry.attr, each->d_off);
        if (bytes > left) {
            if (entry.ino != 0) in.nodes.forget(node_of(in, entry.ino), 1);
            break;
        }
        filled += bytes;
        from.at = each->d_off;
        from.next = nullptr;
    }
    return filled;
}

void read_entries(fuse_req_t request, fuse_ino_t number, size_t bytes, off_t offset, fuse_file_info* info,
                  bool is_plus) {
    mounted& in = mount_of(request);
    open_folder& from = open_folder_of(info);
    if (offset != from.at) {
        ::seekdir(from.entries.get(), offset);
        from.at = offset;
        from.next = nullptr;
    }
    std::vector<char> room(bytes);
    const size_t filled = fill(in, request, node_of(in, number), from, room, is_plus);
    if (filled == 0 && from.next == nullptr && errno != 0)
        ::fuse_reply_err(request, errno);
    else
        ::fuse_reply_buf(request, room.data(), filled);
}

void readdir(fuse_req_t request, fuse_ino_t number, size_t bytes, off_t offset, fuse_file_info* info) {
    read_entries(request, number, bytes, offset, info, false);
}

void readdirplus(fuse_req_t request, fuse_ino_t number, size_t bytes, off_t offset, fuse_file_info* info) {
    read_entries(request, number, bytes, offset, info, true);
}

void releasedir(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    delete &open_folder_of(info);
    --mount_of(request).open_files;
    ::fuse_reply_err(request, 0);
}

void fsyncdir(fuse_req_t request, fuse_ino_t, int, fuse_file_info* info) {
    ::fuse_reply_err(request, ::fsync(::dirfd(open_folder_of(info).entries.get())) == 0 ? 0 : errno);
}

}  // namespace

void add_folder_requests(fuse_lowlevel_ops& to) {
    to.opendir = safely<opendir>::call;
    to.readdir = safely<readdir>::call;
    to.readdirplus = safely<readdirplus>::call;
    to.releasedir = safely<releasedir>::call;
    to.fsyncdir = safely<fsyncdir>::call;
}

}  // namespace halcyon::logfs
