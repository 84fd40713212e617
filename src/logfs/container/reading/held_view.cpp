#include "logfs/container/reading/held_view.hpp"

#include <fcntl.h>

#include <cerrno>
#include <span>

#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {

int64_t read_generation(container& of) {
    file_calls& calls = of.calls();
    const int fd = calls.open_at(of.directory(), punched_name.data(), O_RDONLY, 0);
    if (fd == -ENOENT) return 0;
    if (fd < 0) return fd;
    int64_t generation = 0;
    if (of.is_seen_late()) static_cast<void>(calls.refresh(fd));
    const int64_t bytes = read_whole(calls, fd, std::as_writable_bytes(std::span(&generation, 1)), 0);
    calls.close(fd);
    if (bytes < 0) return bytes;
    // Less than that: it was created, and nothing was given back by then.
    if (bytes < static_cast<int64_t>(sizeof generation)) return 0;
    return generation >= 0 && generation < INT64_MAX - 1 ? generation : -EIO;
}

held_view::~held_view() {
    if (fd_ >= 0) container_.calls().close(fd_);
}

int held_view::look() {
    const int64_t now = read_generation(container_);
    if (now < 0) return static_cast<int>(now);
    looked_ = now;
    return 0;
}

void held_view::has_taken() {
    taken_ = looked_;
    let_go();
}

void held_view::let_go() {
    if (held_ < 0) return;
    container_.calls().unlock_part(fd_, place_of_generation(held_), 1);
    held_ = -1;
}

int held_view::hold() {
    if (held_ == taken_ || has_no_locks_) [[likely]]
        return 0;
    file_calls& calls = container_.calls();
    if (fd_ < 0) {
        const int fd = calls.open_at(container_.directory(), marker_name.data(), O_RDONLY, 0);
        if (fd < 0) return fd;
        fd_ = fd;
    }
    const int locked = calls.lock_part(fd_, place_of_generation(taken_), 1, false, true);
    has_no_locks_ = locked == -ENOLCK || locked == -ENOSYS || locked == -EOPNOTSUPP || locked == -EINVAL;
    if (locked != 0) return has_no_locks_ ? 0 : locked;
    // While it was waited for, or before, something may have been given back.
    const int64_t now = read_generation(container_);
    if (now != taken_) {
        calls.unlock_part(fd_, place_of_generation(taken_), 1);
        return now < 0 ? static_cast<int>(now) : 1;
    }
    held_ = taken_;
    return 0;
}

}  // namespace halcyon::logfs
