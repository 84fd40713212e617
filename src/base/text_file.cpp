#include "base/text_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>

#include "base/descriptor.hpp"

namespace halcyon {

namespace {

enum class contents { any, text };

/// Waits until a read does not: there is something, or the writers of a pipe are gone. An error of errno, 0: none.
int wait_for_bytes(int fd, std::chrono::seconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return ETIMEDOUT;
        pollfd one{fd, POLLIN, 0};
        const int ready = ::poll(&one, 1, static_cast<int>(left.count()));
        if (ready > 0) return 0;
        if (ready < 0 && errno != EINTR) return errno;
    }
}

result<std::string> read_whole(const std::string& path, contents expected, std::chrono::seconds patience) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return system_failure(path, errno);
    std::string whole;
    std::array<char, size_t{1} << 16> piece;
    while (true) {
        if (const int why = wait_for_bytes(file.get(), patience); why == ETIMEDOUT)
            return failure{error_kind::system,
                           path + ": a pipe into which nobody has written for " + std::to_string(patience.count()) +
                               " s: name a file, or start what writes into it",
                           why};
        else if (why != 0)
            return system_failure(path, why);
        const ssize_t bytes = ::read(file.get(), piece.data(), piece.size());
        if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (bytes < 0) return system_failure(path, errno);
        if (bytes == 0) return whole;
        const std::string_view got(piece.data(), static_cast<size_t>(bytes));
        // Said at the first, not when the rest is in memory, too: a file with a hole may have any size.
        if (const size_t zero = got.find('\0'); expected == contents::text && zero != std::string_view::npos)
            return failure{error_kind::config,
                           path + ": byte " + std::to_string(whole.size() + zero) +
                               " is zero, which no text has: damaged, or a file of another kind",
                           0};
        whole += got;
    }
}

}  // namespace

result<std::string> read_file(const std::string& path, std::chrono::seconds patience) {
    return read_whole(path, contents::any, patience);
}

result<std::string> read_text_file(const std::string& path) {
    return read_whole(path, contents::text, pipe_patience);
}

}  // namespace halcyon
