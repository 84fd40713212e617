#include "base/units.hpp"

#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>

namespace halcyon {
namespace {

using wide = __int128;

struct unit {
    std::string_view name;
    int64_t factor;
};

constexpr std::array<unit, 9> byte_units{{{"B", 1},
                                          {"KiB", int64_t{1} << 10},
                                          {"MiB", int64_t{1} << 20},
                                          {"GiB", int64_t{1} << 30},
                                          {"TiB", int64_t{1} << 40},
                                          {"kB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000}}};

constexpr std::array<unit, 5> duration_units{
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"min", 60'000'000'000}}};

/// What is being read, for messages.
struct kind_of_quantity {
    std::string_view noun;      ///< "a size"
    std::string_view example;   ///< "256 MiB"
    std::string_view smallest;  ///< "bytes": what the result counts
    std::span<const unit> units;
    bool bare_number_allowed;
};

failure refuse(const kind_of_quantity& kind, std::string_view text, std::string_view why) {
    std::string message = "'" + std::string(text) + "' is not " + std::string(kind.noun) + ": " + std::string(why) +
                          "; expected a number and one of";
    for (size_t i = 0; i < kind.units.size(); ++i) message += (i == 0 ? " " : ", ") + std::string(kind.units[i].name);
    return {error_kind::config, message + ", e.g. " + std::string(kind.example), 0};
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Decimal arithmetic in integers, so that 0.1 GB is exactly 100,000,000 bytes.
result<int64_t> parse_quantity(const kind_of_quantity& kind, std::string_view text) {
    constexpr size_t most_digits = 18;  // so that digits × the largest factor fit 128 bits
    size_t at = 0;
    size_t digits = 0;
    wide mantissa = 0;
    wide divisor = 1;
    bool fraction = false;
    for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
        if (text[at] == '.') {
            fraction = true;
            continue;
        }
        if (mantissa != 0 || text[at] != '0') ++digits;
        if (digits > most_digits || (fraction && divisor > wide{1'000'000'000'000'000'000})) {
            return refuse(kind, text, "too many digits");
        }
        mantissa = mantissa * 10 + (text[at] - '0');
        if (fraction) divisor *= 10;
    }
    if (at == 0 || (at == 1 && fraction)) {
        return refuse(kind, text, text.starts_with('-') ? "it is negative" : "it does not begin with a number");
    }
    std::string_view rest = text.substr(at);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    std::optional<int64_t> factor;
    if (rest.empty() && (kind.bare_number_allowed || mantissa == 0)) factor = 1;
    for (const unit& u : kind.units)
        if (u.name == rest) factor = u.factor;
    if (!factor) return refuse(kind, text, rest.empty() ? "the unit is missing" : "the unit is not known");
    const wide scaled = mantissa * *factor;
    if (scaled % divisor != 0) return refuse(kind, text, "it is not a whole number of " + std::string(kind.smallest));
    if (scaled / divisor > std::numeric_limits<int64_t>::max()) return refuse(kind, text, "it is beyond 2^63-1");
    return static_cast<int64_t>(scaled / divisor);
}

}  // namespace

result<int64_t> parse_bytes(std::string_view text) {
    return parse_quantity({"a size", "256 MiB", "bytes", byte_units, true}, text);
}

result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    auto count = parse_quantity({"a duration", "20 us", "nanoseconds", duration_units, false}, text);
    if (!count) return count.why();
    return std::chrono::nanoseconds(*count);
}

std::string format_bytes(int64_t bytes) {
    static constexpr std::array<std::string_view, 5> names{"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    int64_t factor = 1;
    while (unit + 1 < names.size() && bytes / factor >= 1024) {
        factor *= 1024;
        ++unit;
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.2f", static_cast<double>(bytes) / static_cast<double>(factor));
    std::string number = text.data();
    while (number.ends_with('0')) number.pop_back();
    if (number.ends_with('.')) number.pop_back();
    return number + " " + std::string(names[unit]);
}

}  // namespace halcyon
