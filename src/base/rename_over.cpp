#include "base/rename_over.hpp"

#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <filesystem>

namespace halcyon {

result<void> rename_over(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) == 0) return {};
    // A folder replaces an empty one only.
    if (errno != ENOTEMPTY && errno != EEXIST) return system_failure(to + ": cannot rename " + from + " to it", errno);
    std::error_code why;
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
        std::filesystem::remove_all(from, why);
        if (why) return system_failure(from + ": cannot remove what it replaced", why.value());
        return {};
    }
    if (errno != EINVAL && errno != ENOSYS) return system_failure(to + ": cannot rename " + from + " to it", errno);
    std::filesystem::remove_all(to, why);
    if (why) return system_failure(to + ": cannot remove", why.value());
    if (::rename(from.c_str(), to.c_str()) != 0)
        return system_failure(to + ": cannot rename " + from + " to it", errno);
    return {};
}

}  // namespace halcyon
