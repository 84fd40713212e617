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

}  // namespace halcyon::calls::backends
