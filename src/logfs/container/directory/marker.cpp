#include "logfs/container/directory/marker.hpp"

#include <charconv>
#include <cstring>

#include "base/crc32c.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/format.hpp"

namespace halcyon::logfs {
namespace {

constexpr std::string_view first_line = "halcyon log container\n";
constexpr std::string_view version_line = "version ";
constexpr std::string_view directories_line = "\nhost directories ";
constexpr std::string_view id_line = "\nid ";
constexpr std::string_view check_line = "\ncheck ";

uint32_t check_of_text(std::string_view text) {
    return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

/// A number behind `before`, which go both from the text.
template <class Number>
bool take(std::string_view& text, std::string_view before, Number& out) {
    if (!text.starts_with(before)) return false;
    text.remove_prefix(before.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
}

}  // namespace

size_t marker::write(std::span<char, room> out) const {
    size_t size = 0;
    const auto add = [&](std::string_view text) {
        std::memcpy(out.data() + size, text.data(), text.size());
        size += text.size();
    };
    const auto add_number = [&](uint64_t number) {
        const auto written = std::to_chars(out.data() + size, out.data() + room, number);
        size = static_cast<size_t>(written.ptr - out.data());
    };
    add(first_line);
    add(version_line);
    add_number(version);
    add(directories_line);
    add_number(host_directories);
    add(id_line);
    add_number(id);
    const uint32_t check = check_of_text({out.data(), size});
    add(check_line);
    add_number(check);
    add("\n");
    return size;
}

bool marker::begins(std::string_view text) {
    return text.starts_with(first_line);
}

marker::reading marker::read(std::string_view text, marker& out) {
    const std::string_view whole = text;
    if (!begins(text)) return reading::damaged;
    text.remove_prefix(first_line.size());
    if (!take(text, version_line, out.version)) return reading::damaged;
    if (out.version != format_version) return reading::other_version;
    if (!take(text, directories_line, out.host_directories) || !take(text, id_line, out.id)) return reading::damaged;
    const std::string_view checked = whole.substr(0, whole.size() - text.size());
    uint32_t check = 0;
    if (!take(text, check_line, check) || text != "\n" || check != check_of_text(checked)) return reading::damaged;
    if (out.host_directories == 0 || out.host_directories > most_host_directories) return reading::damaged;
    return reading::whole;
}

}  // namespace halcyon::logfs
