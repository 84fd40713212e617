#include "base/directory_claim.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace halcyon {

result<directory_claim> directory_claim::take(const std::string& directory) {
    directory_claim made;
    made.fd_ = descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!made.fd_) return system_failure(directory, errno);
    int done = 0;
    do done = ::flock(made.fd_.get(), LOCK_EX | LOCK_NB);
    while (done != 0 && errno == EINTR);
    if (done != 0 && errno == EWOULDBLOCK)
        return failure{error_kind::usage, directory + " is in use by another session", 0};
    return made;
}

directory_claim::~directory_claim() {
    // Closing alone would leave the lock to a child that was forked meanwhile.
    if (fd_) ::flock(fd_.get(), LOCK_UN);
}

}  // namespace halcyon
