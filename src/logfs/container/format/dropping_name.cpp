#include "logfs/container/format/dropping_name.hpp"

#include <charconv>

#include "base/crc32c.hpp"
#include "logfs/container/format/format.hpp"

namespace halcyon::logfs {
namespace {

/// All of `text` is a decimal number as to_chars writes it.
template <class Number>
bool is_number(std::string_view text, Number& out) {
    if (text.empty() || text[0] == '-' || (text.size() > 1 && text[0] == '0')) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

std::string_view prefix_of(dropping_kind kind) {
    return kind == dropping_kind::index ? index_prefix : data_prefix;
}

}  // namespace

short_name& short_name::add(uint64_t number) {
    char digits[20];
    const auto written = std::to_chars(digits, digits + sizeof digits, number);
    return add(std::string_view(digits, static_cast<size_t>(written.ptr - digits)));
}

bool parse_dropping_name(std::string_view name, dropping_name& out) {
    if (name.starts_with(index_prefix))
        out.kind = dropping_kind::index;
    else if (name.starts_with(data_prefix))
        out.kind = dropping_kind::data;
    else
        return false;
    name.remove_prefix(prefix_of(out.kind).size());
    // A host's name may contain dots.
    const size_t created = name.rfind('.');
    if (created == std::string_view::npos || created == 0) return false;
    const size_t pid = name.rfind('.', created - 1);
    if (pid == std::string_view::npos || pid == 0) return false;
    out.host = name.substr(0, pid);
    // Longer than any that a header can hold, and than a short_name has room for.
    if (out.host.size() >= host_room) return false;
    return is_number(name.substr(pid + 1, created - pid - 1), out.pid) &&
           is_number(name.substr(created + 1), out.created_ns);
}

bool parse_host_directory(std::string_view name, uint32_t& out) {
    return name.starts_with(host_directory_prefix) && is_number(name.substr(host_directory_prefix.size()), out) &&
           out < most_host_directories;
}

uint32_t host_directory_of(std::string_view host, uint32_t directories) {
    return crc32c(std::as_bytes(std::span(host.data(), host.size()))) % directories;
}

short_name host_directory_name(uint32_t number) {
    return short_name(host_directory_prefix).add(uint64_t{number});
}

short_name dropping_path(uint32_t host_directory, const dropping_name& name) {
    short_name path = host_directory_name(host_directory);
    path.add("/").add(prefix_of(name.kind));
    for (const char letter : name.host) path.add(letter == '/' ? "_" : std::string_view(&letter, 1));
    return path.add(".").add(static_cast<uint64_t>(name.pid)).add(".").add(static_cast<uint64_t>(name.created_ns));
}

short_name with_kind(std::string_view name, dropping_kind kind) {
    const size_t slash = name.rfind('/');
    const std::string_view folder = slash == std::string_view::npos ? std::string_view() : name.substr(0, slash + 1);
    const std::string_view rest = name.substr(folder.size());
    const size_t dot = rest.find('.');
    return short_name(folder).add(prefix_of(kind)).add(dot == std::string_view::npos ? rest : rest.substr(dot + 1));
}

}  // namespace halcyon::logfs
