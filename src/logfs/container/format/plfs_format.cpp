#include "logfs/container/format/plfs_format.hpp"

#include <charconv>

namespace halcyon::logfs {
namespace {

constexpr std::string_view dropping_prefix = "dropping.";
constexpr int64_t second_ns = 1'000'000'000;

/// A decimal number in front, which goes from the text.
template <class Number>
bool take_number(std::string_view& text, Number& out) {
    if (text.empty() || text[0] < '0' || text[0] > '9') return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
}

bool take(std::string_view& text, std::string_view before) {
    if (!text.starts_with(before)) return false;
    text.remove_prefix(before.size());
    return true;
}

/// Whole seconds and the rest apart: together they have more digits than a double.
bool to_ns(double seconds, int64_t& out) {
    constexpr double last = 4e9;  // 2096
    if (!(seconds >= 0 && seconds < last)) return false;
    const auto whole = static_cast<int64_t>(seconds);
    // Never negative, and static programs that record are linked without the library of llround().
    out = whole * second_ns + static_cast<int64_t>((seconds - static_cast<double>(whole)) * 1e9 + 0.5);
    return true;
}

}  // namespace

bool parse_plfs_name(std::string_view name, plfs_name& out) {
    if (!take(name, dropping_prefix)) return false;
    if (take(name, index_prefix))
        out.kind = dropping_kind::index;
    else if (take(name, data_prefix))
        out.kind = dropping_kind::data;
    else
        return false;
    const std::string_view created = name;
    int64_t seconds = 0;
    int64_t microseconds = 0;
    if (!take_number(name, seconds) || !take(name, ".")) return false;
    const size_t before = name.size();
    if (!take_number(name, microseconds) || before - name.size() != 6) return false;
    if (seconds >= INT64_MAX / second_ns - 1) return false;
    out.created = created.substr(0, created.size() - name.size());
    out.created_ns = seconds * second_ns + microseconds * 1000;
    if (!take(name, ".")) return false;
    // A host's name may contain dots.
    const size_t pid = name.rfind('.');
    if (pid == std::string_view::npos || pid == 0) return false;
    out.host = name.substr(0, pid);
    name.remove_prefix(pid + 1);
    return take_number(name, out.pid) && name.empty();
}

bool plfs_path(std::string_view directory, dropping_kind kind, const plfs_name& beside, int32_t pid, short_name& out) {
    constexpr size_t longest_number = 20;
    const std::string_view of_kind = kind == dropping_kind::index ? index_prefix : data_prefix;
    const size_t fixed = 1 + dropping_prefix.size() + of_kind.size() + 2;
    if (pid < 0) return false;
    if (directory.size() + fixed + beside.created.size() + beside.host.size() + longest_number >= short_name::room)
        return false;
    out = short_name(directory);
    out.add("/").add(dropping_prefix).add(of_kind).add(beside.created).add(".").add(beside.host).add(".");
    out.add(static_cast<uint64_t>(pid));
    return true;
}

bool is_plfs_data_path(std::string_view path) {
    return path.substr(path.rfind('/') + 1).starts_with(dropping_prefix);
}

bool decode_plfs_record(const plfs_record& from, run& out) {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    if (!to_ns(from.begin_s, begin_ns) || !to_ns(from.end_s, end_ns)) return false;
    out = {};
    out.start = from.logical;
    out.physical = from.physical;
    out.count = 1;
    out.first_ns = out.last_ns = end_ns;
    if (from.length > static_cast<uint64_t>(INT64_MAX)) return false;
    out.length = static_cast<int64_t>(from.length);
    if (out.start < 0 || out.physical < 0) return false;
    return out.length <= INT64_MAX - out.start && out.length <= INT64_MAX - out.physical;
}

bool parse_plfs_meta(std::string_view name, int64_t& last_offset) {
    return take_number(name, last_offset) && name.starts_with('.');
}

bool parse_plfs_version(std::string_view name, uint32_t& major) {
    return take(name, plfs_version_prefix) && take_number(name, major) && name.starts_with('.');
}

}  // namespace halcyon::logfs
