#pragma once

#include <array>
#include <cstdio>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

namespace halcyon::tests {

/// What a command of the shell writes to standard output. Throws where it fails.
inline std::string output_of(const std::string& command) {
    FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
    std::string output;
    std::array<char, 4096> buffer{};
    while (const size_t bytes = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), bytes);
    if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command + "\n" + output);
    return output;
}

inline std::set<std::string> words_of(const std::string& text) {
    std::istringstream words(text);
    return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

}  // namespace halcyon::tests
