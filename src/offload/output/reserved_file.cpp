#include "offload/output/reserved_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/descriptor.hpp"

namespace halcyon::offload {
namespace {

bool is_want_of_room(int why) {
    return why == ENOSPC || why == EDQUOT;
}

result<void> write_whole(int file, std::string_view text, const std::string& path) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t n = ::pwrite(file, text.data() + done, text.size() - done, static_cast<off_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return system_failure(path, n < 0 ? errno : EIO);
        done += static_cast<size_t>(n);
    }
    return {};
}

/// Writes over what the file holds. It is not cut first: that would give its room back. Blanks cover a longer old text.
result<void> write_over(const std::string& path, std::string_view text) {
    descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return system_failure(path, errno);
    struct stat old {};
    if (::fstat(file.get(), &old) != 0) return system_failure(path, errno);
    std::string covered(text);
    if (const auto size = static_cast<size_t>(old.st_size); size > covered.size()) {
        covered.resize(size - 1, ' ');
        covered += '\n';
    }
    if (auto done = write_whole(file.get(), covered, path); !done) return done;
    if (::close(file.release()) != 0 && errno != EINTR) return system_failure(path, errno);
    return {};
}

/// A file of no text with the room of one. Failure (system): there is no such room; nothing is left.
result<void> take_room(const std::string& path) {
    const descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file) return system_failure(path, errno);
    if (::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, reserved_file::room_bytes) == 0 || errno == EOPNOTSUPP)
        return {};
    const int why = errno;
    ::unlink(path.c_str());
    return system_failure(path, why);
}

}  // namespace

reserved_file::reserved_file(std::string path) : path_(std::move(path)) {
    const size_t name = path_.rfind('/') + 1;
    spare_ = path_.substr(0, name) + "." + path_.substr(name) + ".room";
    static_cast<void>(take_room(spare_));
}

result<void> reserved_file::replace(std::string_view text) {
    result<void> written = take_room(spare_);
    if (written) written = write_over(spare_, text);
    if (written) {
        if (::renameat2(AT_FDCWD, spare_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) return {};
        // There is no old text yet, or the file system has no such call.
        if (::rename(spare_.c_str(), path_.c_str()) != 0) return system_failure(path_, errno);
        static_cast<void>(take_room(spare_));
        return {};
    }
    if (!is_want_of_room(written.why().system_errno)) return written;
    return write_over(path_, text);
}

void reserved_file::release() {
    ::unlink(spare_.c_str());
}

}  // namespace halcyon::offload
