#include "observe/trace/trace_file.hpp"

#include <sys/uio.h>

#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::observe::trace {
namespace direct = calls::direct;

namespace {

constexpr std::string_view suffix = ".trace";
constexpr std::string_view begun_suffix = ".begun";
static_assert(suffix.size() == begun_suffix.size());

}  // namespace

bool join_path(char (&out)[trace_file::longest_path], std::string_view directory, std::string_view name,
               std::string_view suffix) {
    if (directory.size() + name.size() + suffix.size() + 2 > sizeof out) return false;
    char* at = out;
    for (const std::string_view part : {directory, std::string_view("/"), name, suffix}) {
        std::memcpy(at, part.data(), part.size());
        at += part.size();
    }
    *at = '\0';
    return true;
}

bool trace_file::create(std::string_view directory, std::string_view name) {
    if (!open_new(directory, name)) return false;
    file_header header{{}, format_version, byte_order_mark};
    std::memcpy(header.magic, trace_magic, sizeof header.magic);
    end_ = sizeof header;
    if (write_at(bytes_of(header), 0)) return true;
    const int why = error();
    remove();
    error_ = why;
    return false;
}

/// On success the file is the one that is written to from now on.
bool trace_file::open_new(std::string_view directory, std::string_view name) {
    static char path[longest_path];  // by the thread that starts or ends the recording; stacks may be small
    const int fd = join_path(path, directory, name, begun_suffix)
                       ? calls::descriptors::open_out_of_the_way(path, O_RDWR | O_CREAT | O_EXCL)
                       : -ENAMETOOLONG;
    if (fd < 0) {
        error_ = -fd;
        return false;
    }
    struct stat identity {};
    direct::call(SYS_fstat, fd, direct::address(&identity));
    device_ = identity.st_dev;
    inode_ = identity.st_ino;
    std::memcpy(path_, path, sizeof path_);
    calls::descriptors::own(fd);
    fd_ = fd;
    return true;
}

bool trace_file::publish() {
    if (failed()) return false;
    static char whole[longest_path];  // as in open_new
    std::memcpy(whole, path_, sizeof whole);
    std::memcpy(whole + std::strlen(whole) - suffix.size(), suffix.data(), suffix.size());
    const long renamed =
        direct::call(SYS_renameat2, AT_FDCWD, direct::address(path_), AT_FDCWD, direct::address(whole), 0);
    if (renamed < 0) {
        give_up(static_cast<int>(-renamed));
        return false;
    }
    std::memcpy(path_, whole, sizeof whole);
    return true;
}

bool trace_file::move_to(std::string_view directory, std::string_view name) {
    static char before[longest_path];
    std::memcpy(before, path_, sizeof before);
    const int from = descriptor();
    const auto device = device_;
    const auto inode = inode_;
    if (from < 0 || !open_new(directory, name)) {
        error_ = 0;
        return false;
    }
    static char piece[16384];
    int64_t at = 0;
    ssize_t bytes = 0;
    while ((bytes = direct::call(SYS_pread64, from, direct::address(piece), sizeof piece, at)) > 0) {
        if (!write_at({piece, static_cast<size_t>(bytes)}, at)) break;
        at += bytes;
    }
    const bool moved = bytes == 0 && !failed() && publish();
    const int gone = moved ? from : fd_.load();
    direct::unlink(moved ? before : path_);
    calls::descriptors::disown(gone);
    direct::close(gone);
    if (moved) return true;
    error_ = 0;
    std::memcpy(path_, before, sizeof path_);
    device_ = device;
    inode_ = inode;
    fd_ = from;
    return false;
}

void trace_file::remove() {
    direct::unlink(path_);
    abandon();
}

void trace_file::abandon() {
    calls::descriptors::close_own(fd_);
    fd_ = -1;
    device_ = inode_ = 0;
    end_ = 0;
    error_ = 0;
}

// The application may close or replace what it did not open, by system calls of its own. Writing into whatever has the
// number now would be the worst we could do.
int trace_file::descriptor() {
    const int fd = fd_.load(std::memory_order_relaxed);
    struct stat identity {};
    if (fd >= 0 && direct::call(SYS_fstat, fd, direct::address(&identity)) == 0 && identity.st_dev == device_ &&
        identity.st_ino == inode_) {
        return fd;
    }
    calls::descriptors::disown(fd);
    const int again = calls::descriptors::open_out_of_the_way(path_, O_RDWR);
    if (again >= 0) calls::descriptors::own(again);
    fd_ = again;
    return again;
}

bool trace_file::write_at(std::string_view bytes, int64_t offset) {
    int fd = descriptor();
    while (fd >= 0 && !bytes.empty()) {
        const ssize_t written = direct::pwrite(fd, bytes.data(), bytes.size(), offset);
        if (written == -EINTR) continue;
        if (written <= 0) {
            fd = written < 0 ? static_cast<int>(written) : -EIO;
            break;
        }
        bytes.remove_prefix(static_cast<size_t>(written));
        offset += written;
    }
    if (fd >= 0) return true;
    give_up(-fd);
    return false;
}

// The header first: readers step over what a killed process did not get to write behind it. What was begun and cannot
// be ended for lack of room would be taken for damage.
bool trace_file::append_at(int64_t at, std::string_view header, std::string_view payload) {
    if (write_at(header, at) && write_at(payload, at + static_cast<int64_t>(header.size()))) return true;
    const int fd = descriptor();
    if (fd >= 0) direct::call(SYS_ftruncate, fd, at);
    return false;
}

bool trace_file::append(section_kind kind, std::string_view first, std::string_view second, std::string_view third) {
    if (failed()) return false;
    const size_t payload = first.size() + second.size() + third.size();
    const size_t whole = sizeof(section_header) + filled_up(payload);
    const bool in_one_piece = second.empty() && third.empty();
    // Applications have threads with stacks of 16 KiB, and handlers on less. Where a process has no thread of ours,
    // they code chunks, and come here from deep below; sections in several parts are written at a process's start.
    if (whole <= 512) return append_copied<512>(kind, {first, second, third}, payload);
    if (!in_one_piece) return whole <= 8192 && append_copied<8192>(kind, {first, second, third}, payload);
    const section_header header{section_magic, static_cast<uint32_t>(kind), static_cast<uint32_t>(payload),
                                check_of(format_version, static_cast<uint32_t>(kind), first.data(), first.size())};
    const int64_t at = end_.fetch_add(static_cast<int64_t>(whole));
    return append_at(at, bytes_of(header), first);
}

template <size_t room>
[[gnu::noinline]] bool trace_file::append_copied(section_kind kind, const std::array<std::string_view, 3>& parts,
                                                 size_t payload) {
    alignas(8) char buffer[room];
    section_header header{section_magic, static_cast<uint32_t>(kind), static_cast<uint32_t>(payload), 0};
    char* out = buffer + sizeof header;
    for (const std::string_view part : parts) {
        if (part.empty()) continue;
        std::memcpy(out, part.data(), part.size());
        out += part.size();
    }
    const size_t whole = sizeof header + filled_up(payload);
    std::memset(out, 0, static_cast<size_t>(buffer + whole - out));
    header.check = check_of(format_version, header.kind, buffer + sizeof header, payload);
    std::memcpy(buffer, &header, sizeof header);
    return append_at(end_.fetch_add(static_cast<int64_t>(whole)), {}, {buffer, whole});
}

}  // namespace halcyon::observe::trace
