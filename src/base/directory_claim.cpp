#include "base/directory_claim.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/same_file.hpp"

namespace halcyon {
namespace {

failure in_use(const std::string& directory) {
    return {error_kind::usage, directory + " is in use by another session", 0};
}

/// As flock(2), but past libhalcyon-io, for which a process that holds a lock must not wait: somebody may wait for that
/// lock. Nobody waits for a claim. A directory of a container stays the library's to lock: the kernel sees something
/// else behind that descriptor.
int lock_as_our_own(int fd, int how) {
    struct stat seen {};
    const bool is_kernels = ::syscall(SYS_fstat, fd, &seen) == 0 && S_ISDIR(seen.st_mode);
    return is_kernels ? static_cast<int>(::syscall(SYS_flock, fd, how)) : ::flock(fd, how);
}

/// False: somebody else has it.
bool lock_now(int fd, int how) {
    int done = 0;
    do done = lock_as_our_own(fd, how | LOCK_NB);
    while (done != 0 && errno == EINTR);
    return done == 0 || errno != EWOULDBLOCK;
}

}  // namespace

result<directory_claim> directory_claim::lock(const std::string& directory, int how) {
    directory_claim made;
    made.fd_ = descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!made.fd_) return system_failure(directory, errno);
    if (!lock_now(made.fd_.get(), how)) return in_use(directory);
    return made;
}

result<directory_claim> directory_claim::take(const std::string& directory) {
    return lock(directory, LOCK_EX);
}

result<directory_claim> directory_claim::join(const std::string& directory) {
    return lock(directory, LOCK_SH);
}

/// The kernel gives the lock up before it takes the other: whoever wants the directory alone may get it in between.
result<void> directory_claim::share() {
    if (lock_now(fd_.get(), LOCK_SH)) return {};
    fd_.reset();
    return in_use("the output directory");
}

bool directory_claim::is_at(const std::string& directory) const {
    return fd_ && leads_to(directory, fd_.get());
}

void directory_claim::release() {
    // Closing alone would leave the lock to a child that was forked meanwhile.
    if (fd_) lock_as_our_own(fd_.get(), LOCK_UN);
    fd_.reset();
}

directory_claim& directory_claim::operator=(directory_claim&& other) noexcept {
    if (this != &other) {
        release();
        fd_ = std::move(other.fd_);
    }
    return *this;
}

directory_claim::~directory_claim() {
    release();
}

}  // namespace halcyon
