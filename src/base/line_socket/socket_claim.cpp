#include "base/line_socket/socket_claim.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "base/same_file.hpp"

namespace halcyon {
namespace {

constexpr std::chrono::milliseconds lock_interval{10};
constexpr mode_t others = 0077;

/// Not one that another user has put there, or could open.
bool is_our_own(int file) {
    struct stat seen {};
    return ::fstat(file, &seen) == 0 && S_ISREG(seen.st_mode) && seen.st_uid == ::geteuid() &&
           (seen.st_mode & others) == 0;
}

/// False: somebody else has it.
bool lock_now(int file) {
    int done = 0;
    do done = ::flock(file, LOCK_EX | LOCK_NB);
    while (done != 0 && errno == EINTR);
    return done == 0 || errno != EWOULDBLOCK;
}

}  // namespace

result<socket_claim> socket_claim::take(const socket_address& address, std::chrono::milliseconds patience) {
    const std::filesystem::path folder = std::filesystem::path(address.name).parent_path();
    const std::string path = folder / ".halcyon-socket.lock";
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
        descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
        if (!file && errno == ENOENT) return system_failure(folder, ENOENT);
        if (!file || !is_our_own(file.get())) return socket_claim();
        // The one before may have removed the file that was opened here.
        if (lock_now(file.get())) {
            if (!leads_to(path, file.get())) continue;
            socket_claim made;
            made.path_ = path;
            made.file_ = std::move(file);
            return made;
        }
        if (std::chrono::steady_clock::now() >= deadline)
            return failure{error_kind::unavailable,
                           address.text() + ": " + path + " stays locked by another process of this user", 0};
        std::this_thread::sleep_for(lock_interval);
    }
}

/// While it is locked: whoever has opened it sees afterwards that it is gone.
socket_claim::~socket_claim() {
    if (file_) ::unlink(path_.c_str());
}

}  // namespace halcyon
