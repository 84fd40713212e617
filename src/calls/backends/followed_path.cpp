#include "calls/backends/followed_path.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls::backends {
namespace {

/// Of something that is there.
size_t path_of_opened(int directory, const char* path, int flags, char* out, long& failed) {
    const long fd = direct::call(SYS_openat, directory, direct::address(path), O_PATH | O_CLOEXEC | flags);
    failed = fd < 0 ? fd : 0;
    if (fd < 0) return 0;
    const size_t length = direct::path_of(static_cast<int>(fd), out, PATH_MAX);
    direct::close(static_cast<int>(fd));
    const bool is_known = length > 0 && *out == '/' && !std::string_view(out, length).ends_with(" (deleted)");
    return is_known ? length : 0;
}

/// The name below the folder whose path `out` has; the new length, 0: there is no room.
size_t append(std::string_view name, size_t length, char* out) {
    if (length == 1) length = 0;  // the root
    if (length + name.size() + 2 > PATH_MAX) return 0;
    out[length++] = '/';
    std::memcpy(out + length, name.data(), name.size());
    out[length + name.size()] = '\0';
    return length + name.size();
}

}  // namespace

size_t follow_links(const char* path, last_link last, char* out) {
    char now[PATH_MAX];
    const size_t given = strnlen(path, sizeof now);
    if (given == 0 || given == sizeof now) return 0;
    std::memcpy(now, path, given + 1);
    constexpr int most_links = 40;
    for (int followed = 0; followed < most_links; ++followed) {
        long failed = 0;
        if (last == last_link::is_followed) {
            const size_t length = path_of_opened(AT_FDCWD, now, 0, out, failed);
            if (failed != -ENOENT) return length;
        }
        // Its folder is there, and perhaps a link of its name to what is not.
        char* const slash = std::strrchr(now, '/');
        const std::string_view name(slash == nullptr ? now : slash + 1);
        if (name.empty() || name == "." || name == "..") return 0;
        char kept[NAME_MAX + 1];
        if (name.size() >= sizeof kept) return 0;
        kept[name.copy(kept, name.size())] = '\0';
        if (slash != nullptr) slash[slash == now ? 1 : 0] = '\0';
        size_t length = path_of_opened(AT_FDCWD, slash == nullptr ? "." : now, O_DIRECTORY, out, failed);
        if (length == 0 || (length = append(kept, length, out)) == 0) return 0;
        if (last == last_link::stays) return length;
        const long target = direct::call(SYS_readlinkat, AT_FDCWD, direct::address(out), direct::address(now),
                                         static_cast<long>(sizeof now));
        if (target < 0) return length;
        if (target == 0 || target == sizeof now) return 0;
        now[target] = '\0';
        if (*now == '/') continue;
        // Relative to the folder that it is in.
        const size_t folder = static_cast<size_t>(std::strrchr(out, '/') - out);
        if (folder + static_cast<size_t>(target) + 2 > sizeof now) return 0;
        std::memmove(now + folder + 1, now, static_cast<size_t>(target) + 1);
        std::memcpy(now, out, folder);
        now[folder] = '/';
    }
    return 0;
}

namespace {

/// What stands before `end` ends with `/..`, from `at` on: it becomes the folder that the kernel finds there. `now`:
/// how long that is. False: the kernel finds nothing, and all is as it was.
bool follow_parent(char* path, size_t at, size_t end, size_t& length, size_t& now) {
    if (length >= PATH_MAX) return false;
    char* const found = path + PATH_MAX;
    path[at - 1] = '\0';
    long failed = 0;
    const size_t bytes = path_of_opened(AT_FDCWD, path, O_DIRECTORY, found, failed);
    path[at - 1] = '/';
    if (bytes == 0) return false;
    const size_t folder = std::string_view(found, bytes).rfind('/');
    const size_t rest = length - end;
    if (folder + rest + 1 >= PATH_MAX) return false;
    std::memmove(path + folder, path + end, rest);
    std::memcpy(path, found, folder);
    now = folder;
    length = folder + rest;
    if (length == 0) path[length++] = '/';
    return true;
}

}  // namespace

size_t follow_parents(char* path, size_t length, size_t known, bool& all_found) {
    all_found = true;
    bool may_be_link = false;  // one of the names before this one
    for (size_t at = known; at < length;) {
        while (at < length && path[at] == '/') ++at;
        size_t end = at;
        while (end < length && path[end] != '/') ++end;
        const std::string_view name(path + at, end - at);
        if (name == ".." && may_be_link) {
            may_be_link = !follow_parent(path, at, end, length, end);
            all_found = all_found && !may_be_link;
        } else if (!name.empty() && name != "." && name != "..") {
            may_be_link = true;
        }
        at = end;
    }
    return length;
}

}  // namespace halcyon::calls::backends
