#include "offload/store/contents/names.hpp"

#include <cstdio>
#include <string_view>

namespace halcyon::offload {
namespace {

/// Length of the UTF-8 sequence at the front of `text`; 0 when it is not one (overlong forms, surrogates, > U+10FFFF).
size_t sequence_length(std::string_view text) {
    const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return lead == 0 ? 0 : 1;
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    const unsigned char second = byte(1);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f)) return 0;
    if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) return 0;
    return length;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const size_t length = sequence_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace

std::string domain_name(int64_t domain, int variant) {
    if (domain < 0) return variant == 0 ? "whole" : "whole." + std::to_string(variant);
    char text[48];
    if (variant == 0) {
        std::snprintf(text, sizeof text, "d%06lld", static_cast<long long>(domain));
    } else {
        std::snprintf(text, sizeof text, "d%06lld.%d", static_cast<long long>(domain), variant);
    }
    return text;
}

result<void> check_name(const std::string& name) {
    const auto refuse = [&name](const char* why) {
        return failure{error_kind::config, "variable '" + name + "' cannot be stored: " + why, 0};
    };
    if (!is_utf8(name)) return refuse("its name is not UTF-8 without zero bytes");
    std::string_view rest = name;
    bool first = true;
    while (true) {
        const size_t slash = rest.find('/');
        const std::string_view component = rest.substr(0, slash);
        if (component.empty()) return refuse("its name has an empty component; write a/b, without a '/' at the ends");
        if (component == "." || component == "..") return refuse("'.' and '..' cannot be components of a name");
        if (first && component == reserved_group) return refuse("'.halcyon' is kept for the store's own tables");
        if (slash == std::string_view::npos) return {};
        rest.remove_prefix(slash + 1);
        first = false;
    }
}

}  // namespace halcyon::offload
