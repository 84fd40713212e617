#include "coordinate/protocol/plain_text.hpp"

#include <algorithm>
#include <cstdint>

namespace halcyon::coordinate {

namespace {

unsigned char byte_at(std::string_view text, size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

/// Length of the character that begins at `at`; 0 where there is none, or a control character.
size_t plain_character(std::string_view text, size_t at) {
    const uint32_t first = byte_at(text, at);
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) return 0;
    uint32_t code = first & (0x7fU >> length);
    for (size_t i = 1; i < length; ++i) {
        const uint32_t next = byte_at(text, at + i);
        if ((next & 0xc0U) != 0x80) return 0;
        code = code << 6U | (next & 0x3fU);
    }
    constexpr uint32_t least_of_length[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool overlong = code < least_of_length[length];
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return overlong || surrogate || code < 0xa0 || code > 0x10ffff ? 0 : length;
}

}  // namespace

bool is_plain_text(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const size_t length = plain_character(text, at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

std::string_view begin_of(std::string_view text, size_t longest) {
    if (text.size() <= longest) return text;
    size_t end = longest;
    while (end > 0 && (byte_at(text, end) & 0xc0U) == 0x80) --end;
    return text.substr(0, end);
}

std::string excerpt(std::string_view text, size_t longest) {
    const bool cut = text.size() > longest;
    std::string plain(text.substr(0, cut && longest > 3 ? longest - 3 : longest));
    // `char` has a sign on some processors, and none on others.
    std::ranges::replace_if(
        plain, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
    return cut && longest > 3 ? plain + "..." : plain;
}

}  // namespace halcyon::coordinate
