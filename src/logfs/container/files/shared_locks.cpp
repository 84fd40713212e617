#include "logfs/container/files/shared_locks.hpp"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <charconv>
#include <span>

#include "logfs/container/files/file_systems.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/files/whole_transfer.hpp"

namespace halcyon::logfs {
namespace {

/// What comes before the separator, which goes as well.
std::string_view take(std::string_view& text, char separator) {
    const size_t end = text.find(separator);
    const std::string_view first = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return first;
}

bool has_option(std::string_view options, std::string_view wanted) {
    while (!options.empty())
        if (take(options, ',') == wanted) return true;
    return false;
}

/// `0:52`
bool is_device(std::string_view text, uint64_t device) {
    unsigned major_number = 0;
    unsigned minor_number = 0;
    const std::string_view first = take(text, ':');
    std::from_chars(first.data(), first.data() + first.size(), major_number);
    std::from_chars(text.data(), text.data() + text.size(), minor_number);
    return makedev(major_number, minor_number) == device;
}

/// A file of /proc has no size.
bool read_all(file_calls& calls, const char* path, page_array<char>& out) {
    const int fd = calls.open_at(AT_FDCWD, path, O_RDONLY, 0);
    if (fd < 0) return false;
    constexpr size_t step = 16384;
    int64_t bytes = 0;
    do {
        const size_t before = out.size();
        if (!out.resize(before + step)) break;
        bytes = read_whole(calls, fd, std::as_writable_bytes(out.all().subspan(before)), static_cast<int64_t>(before));
        out.cut(before + static_cast<size_t>(bytes > 0 ? bytes : 0));
    } while (bytes == static_cast<int64_t>(step));
    calls.close(fd);
    return bytes >= 0;
}

}  // namespace

bool is_mounted_with_shared_locks(std::string_view type, std::string_view options) {
    // `nolock` is shown as local_lock=all, too.
    if (type == "nfs" || type == "nfs4")
        return has_option(options, "local_lock=none") || has_option(options, "local_lock=flock");
    if (type == "lustre") return has_option(options, "flock");
    return type == "ceph" || type == "gpfs" || type == "fuse.glusterfs";
}

bool find_shared_locks(std::string_view mounts, uint64_t device) {
    while (!mounts.empty()) {
        std::string_view line = take(mounts, '\n');
        take(line, ' ');
        take(line, ' ');
        if (!is_device(take(line, ' '), device)) continue;
        // As many fields as it has follow, and this.
        constexpr std::string_view separator = " - ";
        const size_t end = line.find(separator);
        if (end == std::string_view::npos) continue;
        line.remove_prefix(end + separator.size());
        const std::string_view type = take(line, ' ');
        take(line, ' ');
        return is_mounted_with_shared_locks(type, line);
    }
    return false;
}

bool has_shared_locks(file_calls& calls, int fd) {
    if (is_of_one_node(calls.file_system(fd))) return true;
    struct stat there {};
    memory_source memory(calls);
    page_array<char> mounts(memory);
    return calls.status(fd, there) == 0 && read_all(calls, "/proc/self/mountinfo", mounts) &&
           find_shared_locks({mounts.data(), mounts.size()}, there.st_dev);
}

}  // namespace halcyon::logfs
