#include "coordinate/election/base64.hpp"

#include <cstdint>

namespace halcyon::coordinate {
namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
    std::string text;
    for (size_t i = 0; i < bytes.size(); i += 3) {
        uint32_t three = 0;
        for (size_t j = 0; j < 3; ++j)
            three = three << 8U | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
        for (size_t j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : digits[three >> (18 - 6 * j) & 0x3fU];
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    size_t padding = 0;
    while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
    std::string bytes;
    for (size_t i = 0; i < text.size(); i += 4) {
        uint32_t three = 0;
        for (size_t j = i; j < i + 4; ++j) {
            const bool padded = j >= text.size() - padding;
            const size_t digit = padded ? 0 : digits.find(text[j]);
            if (digit == std::string_view::npos) return std::nullopt;
            three = three << 6U | static_cast<uint32_t>(digit);
        }
        for (size_t j = 0; j < 3; ++j) bytes += static_cast<char>(three >> (16 - 8 * j) & 0xffU);
    }
    bytes.resize(bytes.size() - padding);
    return bytes;
}

}  // namespace halcyon::coordinate
