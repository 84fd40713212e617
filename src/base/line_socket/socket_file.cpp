#include "base/line_socket/socket_file.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "base/line_socket/peer_identity.hpp"
#include "base/line_socket/socket_claim.hpp"
#include "base/same_file.hpp"

namespace halcyon {
namespace {

failure in_use(const socket_address& address, const std::optional<peer_identity>& by) {
    std::string who = "by another process";
    if (by && by->pid != 0) who = "by process " + std::to_string(by->pid);
    if (by) who += " of user " + std::to_string(by->uid);
    return {error_kind::unavailable, address.text() + ": in use " + who, EADDRINUSE};
}

/// Who listens; none: nobody does, and a file there is one that a dead process left.
result<std::optional<failure>> live_listener(const socket_address& address) {
    const descriptor s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!s) return system_failure("socket", errno);
    const unix_name name = name_of(address);
    const int why = ::connect(s.get(), name.get(), name.length) == 0 ? 0 : errno;
    if (why == ECONNREFUSED || why == ENOENT) return std::optional<failure>();
    if (why == 0) {
        const auto peer = unix_peer(s.get());
        return std::optional(in_use(address, peer ? std::optional(*peer) : std::nullopt));
    }
    // A full queue, or a socket for messages instead of streams.
    if (why == EAGAIN || why == EPROTOTYPE) return std::optional(in_use(address, std::nullopt));
    return system_failure(address.text(), why);
}

/// Under the claim: no other process of this user replaces it meanwhile.
result<void> remove_stale(const socket_address& address) {
    struct stat there {};
    if (::lstat(address.name.c_str(), &there) != 0)
        return errno == ENOENT ? result<void>() : system_failure(address.text(), errno);
    if (!S_ISSOCK(there.st_mode))
        return failure{error_kind::system,
                       address.text() + ": the file is there and is no socket; remove it, or choose another path",
                       EEXIST};
    auto live = live_listener(address);
    if (!live) return live.why();
    if (*live) return **live;
    if (::unlink(address.name.c_str()) != 0 && errno != ENOENT)
        return system_failure(address.text() + ": the file of a process that is gone cannot be removed", errno);
    return {};
}

/// Opens the file that bind() has made and gives it its permissions: bind() applied the umask.
result<descriptor> permit(const socket_address& address, mode_t permissions) {
    descriptor file(::open(address.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat made {};
    if (!file || ::fstat(file.get(), &made) != 0) return system_failure(address.text(), errno);
    if (!S_ISSOCK(made.st_mode) || made.st_uid != ::geteuid())
        return failure{error_kind::system, address.text() + ": another process has put its own file there", EEXIST};
    // Through the descriptor: what the path leads to may have been replaced.
    const std::string link = "/proc/self/fd/" + std::to_string(file.get());
    if (::chmod(link.c_str(), permissions) != 0) return system_failure(address.text() + ": permissions", errno);
    return file;
}

}  // namespace

failure address_in_use(const socket_address& address) {
    if (address.is_tcp()) return in_use(address, std::nullopt);
    const auto live = live_listener(address);
    return live && *live ? **live : in_use(address, std::nullopt);
}

result<socket_file> socket_file::listen(int socket, const socket_address& address, mode_t permissions, int backlog,
                                        std::chrono::milliseconds patience) {
    const auto held = socket_claim::take(address, patience);
    if (!held) return held.why();
    if (auto free = remove_stale(address); !free) return free.why();
    // bind() takes the socket's own permissions, less the umask: at no moment may more users connect than asked for.
    if (::fchmod(socket, permissions) != 0) return system_failure(address.text() + ": permissions", errno);
    const unix_name name = name_of(address);
    if (::bind(socket, name.get(), name.length) != 0)
        return errno == EADDRINUSE ? address_in_use(address) : system_failure(address.text(), errno);
    auto file = permit(address, permissions);
    if (!file) return file.why();
    socket_file made;
    made.path_ = address.name;
    made.file_ = std::move(*file);
    made.made_by_ = ::getpid();
    if (::listen(socket, backlog) != 0) return system_failure(address.text() + ": listen", errno);
    return made;
}

socket_file::socket_file(socket_file&& other) noexcept
    : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)), made_by_(other.made_by_) {}

socket_file& socket_file::operator=(socket_file&& other) noexcept {
    if (this != &other) {
        remove();
        path_ = std::exchange(other.path_, {});
        file_ = std::move(other.file_);
        made_by_ = other.made_by_;
    }
    return *this;
}

bool socket_file::is_in_place() const {
    return leads_to(path_, file_.get());
}

void socket_file::remove() {
    if (file_ && made_by_ == ::getpid() && is_in_place()) ::unlink(path_.c_str());
    file_.reset();
}

socket_file::~socket_file() {
    remove();
}

}  // namespace halcyon
