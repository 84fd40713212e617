#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "halcyon/error.hpp"
#include "predict/grammar/index_table.hpp"

namespace halcyon::predict {

/// Files of models and grammars are not larger: what says so is not read.
inline constexpr uint64_t largest_file_bytes = uint64_t{1} << 30;

/// A check sum goes on over these bytes: as words of 8 bytes, little endian, the last one filled up with zeros. What it
/// begins with is mixed() of a length.
[[nodiscard]] inline uint64_t check_sum(std::span<const unsigned char> bytes, uint64_t sum) {
    for (size_t at = 0; at < bytes.size(); at += 8) {
        uint64_t word = 0;
        for (size_t i = std::min<size_t>(8, bytes.size() - at); i-- > 0;) word = word << 8 | bytes[at + i];
        sum = mixed(sum ^ word);
    }
    return sum;
}

/// What is wrong with a file, and where.
[[nodiscard]] inline failure wrong_at_byte(size_t offset, std::string_view what, std::string_view file,
                                           error_kind kind = error_kind::config) {
    return {kind, std::string(file) + ": at byte " + std::to_string(offset) + ": " + std::string(what), 0};
}

[[nodiscard]] inline failure too_large_a_file(uint64_t bytes, std::string_view file) {
    return {error_kind::config,
            std::string(file) + ": " + std::to_string(bytes) + " bytes; a saved model has " +
                std::to_string(largest_file_bytes) + " at most",
            0};
}

}  // namespace halcyon::predict
