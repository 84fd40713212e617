#include "base/closest_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

namespace halcyon {
namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

/// Optimal string alignment distance: Levenshtein's plus swaps of neighbours.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({previous[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(previous);
        previous.swap(row);
    }
    return previous[b.size()];
}

}  // namespace

std::optional<std::string> closest_name(std::string_view name, std::span<const std::string> candidates) {
    constexpr size_t longest = 64;  // longer names are not slips, and the comparison is quadratic
    if (name.size() > longest) return std::nullopt;
    const std::string wanted = lower(name);
    size_t best = std::max<size_t>(1, name.size() / 3) + 1;
    std::optional<std::string> found;
    for (const std::string& candidate : candidates) {
        if (candidate.size() > longest) continue;
        const size_t d = distance(wanted, lower(candidate));
        if (d < best) {
            best = d;
            found = candidate;
        }
    }
    return found;
}

std::string list_names(std::vector<std::string> names) {
    constexpr size_t most = 24;
    if (names.empty()) return "none";
    std::sort(names.begin(), names.end());
    std::string out;
    for (size_t i = 0; i < std::min(names.size(), most); ++i) out += (i == 0 ? "" : ", ") + printable(names[i]);
    if (names.size() > most) out += ", … (" + std::to_string(names.size() - most) + " more)";
    return out;
}

std::string printable(std::string_view text) {
    constexpr size_t longest = 80;
    std::string_view shown = text;
    if (text.size() > longest) {
        size_t end = longest;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;  // not inside a character
        shown = text.substr(0, end);
    }
    std::string out;
    for (char c : shown) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (byte < 0x20 || byte == 0x7F) {
            std::array<char, 8> code{};
            std::snprintf(code.data(), code.size(), "\\x%02x", byte);
            out += code.data();
        } else {
            out += c;
        }
    }
    return shown.size() < text.size() ? out + "…" : out;
}

}  // namespace halcyon
