#include "base/text_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace halcyon {

result<std::string> read_text_file(const std::string& path) {
    std::error_code ignored;
    // A stream opens a directory and finds it empty.
    if (std::filesystem::is_directory(path, ignored)) return system_failure(path, EISDIR);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    // An empty file has nothing to insert, which `<<` calls a failure.
    if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
    if (!file.is_open() || file.bad() || text.bad()) return system_failure(path, errno != 0 ? errno : EIO);
    return text.str();
}

}  // namespace halcyon
