#include "coordinate/agent/cache_cleaner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

namespace halcyon::coordinate {

void cache_cleaner::begin() {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([this] {
        // A file system that cannot be synced has no cache that could be waited for.
        const descriptor folder(::open(mount_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (folder) ::syncfs(folder.get());
        is_done_ = true;
        const uint64_t one = 1;
        static_cast<void>(::write(done_, &one, sizeof one) == sizeof one);
    });
}

}  // namespace halcyon::coordinate
