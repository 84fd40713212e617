#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace halcyon::logfs::tests {

inline std::string file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace halcyon::logfs::tests
