#include "base/text_file.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace halcyon {

namespace {

enum class contents { any, text };

result<std::string> read_whole(const std::string& path, contents expected) {
    std::error_code ignored;
    // A stream opens a directory and finds it empty.
    if (std::filesystem::is_directory(path, ignored)) return system_failure(path, EISDIR);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file.is_open()) return system_failure(path, errno != 0 ? errno : EIO);
    std::string whole;
    std::array<char, size_t{1} << 16> piece;
    do {
        file.read(piece.data(), piece.size());
        if (file.bad()) return system_failure(path, errno != 0 ? errno : EIO);
        const std::string_view got(piece.data(), static_cast<size_t>(file.gcount()));
        // Said at the first, not when the rest is in memory, too: a file with a hole may have any size.
        if (const size_t zero = got.find('\0'); expected == contents::text && zero != std::string_view::npos)
            return failure{error_kind::config,
                           path + ": byte " + std::to_string(whole.size() + zero) +
                               " is zero, which no text has: damaged, or a file of another kind",
                           0};
        whole += got;
    } while (file);
    return whole;
}

}  // namespace

result<std::string> read_file(const std::string& path) {
    return read_whole(path, contents::any);
}

result<std::string> read_text_file(const std::string& path) {
    return read_whole(path, contents::text);
}

}  // namespace halcyon
