#include "logfs/container/space/giving_back.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "logfs/container/files/shared_locks.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/held_view.hpp"

namespace halcyon::logfs {
namespace {

/// In the file `punched`, behind the generation.
constexpr int64_t place_of_why = sizeof(int64_t);

}  // namespace

int read_why_not_given_back(container& of) {
    file_calls& calls = of.calls();
    const int fd = calls.open_at(of.directory(), punched_name.data(), O_RDONLY, 0);
    if (fd < 0) return 0;
    int64_t why = 0;
    const int64_t bytes = read_whole(calls, fd, std::as_writable_bytes(std::span(&why, 1)), place_of_why);
    calls.close(fd);
    constexpr int64_t most = 4095;
    return bytes == sizeof why && why < 0 && why >= -most ? static_cast<int>(why) : 0;
}

int giving_back::open_marker() {
    if (marker_ >= 0) return 0;
    const int fd = container_.calls().open_at(container_.directory(), marker_name.data(), O_RDWR, 0);
    if (fd < 0) return fd;
    marker_ = fd;
    return 0;
}

int giving_back::announce() {
    if (is_announced_) return 0;
    if (!has_shared_locks(container_.calls(), container_.directory())) return -ENOLCK;
    if (const int done = open_marker(); done != 0) return done;
    int64_t now = read_generation(container_);
    if (now < 0) return static_cast<int>(now);
    if (found_at_ < 0) found_at_ = now;
    if (now == found_at_) {
        // Not behind another one, which may be kept from going on.
        if (const int locked = container_.calls().lock_part(marker_, 0, 1, true, false); locked != 0) return locked;
        now = read_generation(container_);
        const int raised = now == found_at_ ? write_number(0, now + 1) : now < 0 ? static_cast<int>(now) : 0;
        container_.calls().unlock_part(marker_, 0, 1);
        if (raised != 0) return raised;
    }
    const int synced = sync_generation();
    is_announced_ = synced == 0;
    return synced;
}

/// Another process of this node may have raised it a moment ago: other nodes see it when it is on the device.
int giving_back::sync_generation() {
    file_calls& calls = container_.calls();
    const int fd = calls.open_at(container_.directory(), punched_name.data(), O_RDONLY, 0);
    if (fd < 0) return fd;
    const int done = calls.sync(fd);
    calls.close(fd);
    return done;
}

/// The file stays for good, and says that bytes under lost records may be gone, too: for check and repair.
int giving_back::write_number(int64_t offset, int64_t number) {
    file_calls& calls = container_.calls();
    int fd = calls.open_at(container_.directory(), punched_name.data(), O_WRONLY, 0);
    const bool is_new = fd == -ENOENT;
    if (is_new) fd = calls.open_at(container_.directory(), punched_name.data(), O_WRONLY | O_CREAT, 0666);
    if (fd < 0) return fd;
    // Whoever may write the file may do this, whatever the umask of the first one says.
    if (is_new) container_.share(punched_name.data(), 0666);
    int done = write_whole(calls, fd, std::as_bytes(std::span(&number, 1)), offset);
    const int closed = calls.close(fd);
    if (done == 0) done = closed;
    if (done != 0 || !is_new) return done;
    const int named = calls.sync_names(container_.directory());
    return named == -EINVAL ? 0 : named;
}

int giving_back::wait(bool waits) {
    if (!is_announced_) return -EAGAIN;
    const int64_t first = place_of_generation(0);
    const int64_t bytes = place_of_generation(found_at_ + 1) - first;
    const int locked = container_.calls().lock_part(marker_, first, bytes, true, waits);
    if (locked == 0) container_.calls().unlock_part(marker_, first, bytes);
    return locked;
}

int giving_back::punch(const char* data_name, std::span<const byte_range> dead, int64_t& punched_bytes) {
    file_calls& calls = container_.calls();
    const int fd = calls.open_at(container_.directory(), data_name, O_WRONLY | O_NOFOLLOW, 0);
    if (fd < 0) return fd;
    int done = 0;
    for (const byte_range& each : dead) {
        done = calls.punch(fd, each.begin, each.bytes());
        if (done != 0) break;
        punched_bytes += each.bytes();
    }
    calls.close(fd);
    return done;
}

void giving_back::note(int why) {
    if (why != read_why_not_given_back(container_)) static_cast<void>(write_number(place_of_why, why));
}

void giving_back::end() {
    if (marker_ >= 0) container_.calls().close(std::exchange(marker_, -1));
    found_at_ = -1;
    is_announced_ = false;
}

}  // namespace halcyon::logfs
