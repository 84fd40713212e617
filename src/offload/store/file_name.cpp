#include "offload/store/file_name.hpp"

#include <charconv>
#include <cstdio>

namespace halcyon::offload {
namespace {

/// Takes `mark` and the digits behind it off the end of `text`; nothing when it does not end so.
std::optional<int64_t> take_number(std::string_view& text, std::string_view mark) {
    const size_t begin = text.find_last_not_of("0123456789") + 1;
    if (begin == text.size() || !text.substr(0, begin).ends_with(mark)) return std::nullopt;
    int64_t number = 0;
    const auto parsed = std::from_chars(text.data() + begin, text.data() + text.size(), number);
    if (parsed.ec != std::errc{}) return std::nullopt;
    text = text.substr(0, begin - mark.size());
    return number;
}

}  // namespace

std::string node_writer(int node) {
    std::string digits = std::to_string(node);
    return "n" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

std::string client_writer(int rank) {
    std::string digits = std::to_string(rank);
    return "c" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

std::string file_name(const std::string& simulation, const std::string& writer, int64_t first_iteration, int32_t part,
                      std::string_view ending) {
    char number[48];
    std::snprintf(number, sizeof number, ".i%08lld", static_cast<long long>(first_iteration));
    std::string name = simulation + "." + writer + number;
    if (part > 0) {
        std::snprintf(number, sizeof number, ".p%02d", part);
        name += number;
    }
    return name.append(ending);
}

std::optional<file_name_parts> parse_file_name(const std::string& name, const std::string& simulation,
                                               std::string_view ending) {
    std::string_view rest = name;
    if (!rest.starts_with(simulation + ".") || !rest.ends_with(ending)) return std::nullopt;
    rest.remove_suffix(ending.size());
    file_name_parts parsed;
    if (const auto part = take_number(rest, ".p")) parsed.part = static_cast<int32_t>(*part);
    const auto iteration = take_number(rest, ".i");
    if (!iteration || rest.size() <= simulation.size() + 1) return std::nullopt;
    parsed.first_iteration = *iteration;
    parsed.writer = rest.substr(simulation.size() + 1);
    // "sim.b.n0000.…" belongs to a simulation called "sim.b".
    if (parsed.writer.find('.') != std::string::npos) return std::nullopt;
    if (file_name(simulation, parsed.writer, parsed.first_iteration, parsed.part, ending) != name) return std::nullopt;
    return parsed;
}

}  // namespace halcyon::offload
