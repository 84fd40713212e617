#include "base/yaml/text_check.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace halcyon::yaml {
namespace {

/// Length of the UTF-8 character at the front of `text`; 0 when it is none (overlong, surrogate, beyond U+10FFFF).
size_t character_length(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
    const uint32_t first = byte(0);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    uint32_t code = first & (0x7Fu >> length);
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0u) != 0x80u) return 0;
        code = (code << 6) | (byte(i) & 0x3Fu);
    }
    static constexpr std::array<uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    if (code < smallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
    return length;
}

}  // namespace

std::optional<bad_text> find_bad_text(std::string_view text) {
    int line = 1;
    for (size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const size_t length = character_length(text.substr(at));
        std::array<char, 64> message{};
        if (length == 0) {
            std::snprintf(message.data(), message.size(), "the byte 0x%02x is not UTF-8", byte);
            return bad_text{line, message.data()};
        }
        if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) {
            std::snprintf(message.data(), message.size(), "the control character 0x%02x is not allowed", byte);
            return bad_text{line, message.data()};
        }
        if (byte == '\n') ++line;
        at += length;
    }
    return std::nullopt;
}

std::optional<int> find_tab_in_indentation(std::string_view text) {
    int line = 1;
    bool indenting = true;
    for (char c : text) {
        if (c == '\n') {
            ++line;
            indenting = true;
        } else if (indenting && c == '\t') {
            return line;
        } else if (c != ' ') {
            indenting = false;
        }
    }
    return std::nullopt;
}

}  // namespace halcyon::yaml
