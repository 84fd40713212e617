#include "calls/wrappers/posix/directory_streams.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "calls/backends/backend_files.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls::directory_streams {
namespace {

struct listing {
    std::atomic<DIR*> stream;
    uint64_t after;
    dirent shown;
};
constexpr int most = 512;
constinit listing listings[most] = {};

listing* find(const DIR* directory) {
    if (directory == nullptr) return nullptr;
    for (listing& each : listings) {
        if (each.stream.load(std::memory_order_acquire) == directory) return &each;
    }
    return nullptr;
}

DIR* fail(int fd, int error) {
    backends::closing(fd);
    direct::close(fd);
    errno = error;
    return nullptr;
}

}  // namespace

DIR* open(int fd) {
    // Its first member is its descriptor; where that is not so, we cannot lend it ours.
    DIR* const made = HALCYON_REAL(opendir, DIR*, (const char*))("/");
    if (made == nullptr) return fail(fd, errno);
    int inside = -1;
    std::memcpy(&inside, static_cast<const void*>(made), sizeof inside);
    if (inside != ::dirfd(made)) {
        HALCYON_REAL(closedir, int, (DIR*))(made);
        return fail(fd, ENOTSUP);
    }
    for (listing& each : listings) {
        DIR* nobody = nullptr;
        if (!each.stream.compare_exchange_strong(nobody, made)) continue;
        direct::close(inside);
        backends::closing(inside);
        std::memcpy(static_cast<void*>(made), &fd, sizeof fd);
        each.after = 0;
        return made;
    }
    HALCYON_REAL(closedir, int, (DIR*))(made);
    return fail(fd, EMFILE);
}

bool is_ours(const DIR* directory) {
    return find(directory) != nullptr;
}

dirent* next(DIR* directory) {
    listing* const at = find(directory);
    const backends::owned_file file = backends::owner_of(::dirfd(directory));
    if (at == nullptr || !file) {
        errno = EBADF;
        return nullptr;
    }
    file_backend::entry found;
    const int got = file.backend().next_entry(file.opened(), at->after, found);
    if (got <= 0) {
        if (got < 0) errno = -got;
        return nullptr;
    }
    at->shown = {};
    at->shown.d_ino = found.inode;
    at->shown.d_off = static_cast<off_t>(at->after);
    at->shown.d_reclen = sizeof at->shown;
    at->shown.d_type = found.type;
    std::memcpy(at->shown.d_name, found.name, sizeof at->shown.d_name);
    return &at->shown;
}

void rewind(DIR* directory) {
    if (listing* const at = find(directory)) at->after = 0;
}

int close(DIR* directory) {
    listing* const at = find(directory);
    if (at == nullptr) return -EBADF;
    backends::closing(::dirfd(directory));
    at->stream.store(nullptr, std::memory_order_release);
    return HALCYON_REAL(closedir, int, (DIR*))(directory) == 0 ? 0 : -errno;
}

}  // namespace halcyon::calls::directory_streams
