#include "logfs/container/reading/plfs_intake.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <span>
#include <string>

#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/files/whole_transfer.hpp"

namespace halcyon::logfs {
namespace {

constexpr size_t batch_records = 8192;

/// Beyond those of the table's droppings.
uint64_t key_of_index(size_t number) {
    return (uint64_t{1} << 40) + number;
}

}  // namespace

plfs_intake::plfs_intake(container& from, memory_source& memory, open_files& files, dropping_table& writers,
                         merged_index& index)
    : container_(from),
      memory_(memory),
      files_(files),
      writers_(writers),
      index_(index),
      indexes_(memory),
      by_name_(memory),
      buffer_(memory) {}

result<void> plfs_intake::reload() {
    if (auto known = look_at_version(); !known) return known;
    if (auto listed = list_directories(); !listed) return listed;
    index_bytes_ = 0;
    for (index_dropping& each : indexes_) {
        if (auto taken = take_new(each); !taken) return taken;
        index_bytes_ += each.taken;
    }
    if (auto listed = list_meta(); !listed) return listed;
    for (uint32_t i = 0; i < writers_.size(); ++i) writers_[i].is_closed = !has_open_writers_;
    if (!index_.settle()) return failed({}, "cannot merge the index", -ENOMEM);
    return {};
}

result<void> plfs_intake::look_at_version() {
    constexpr uint32_t readable = 2;
    if (knows_version_) return {};
    uint32_t found = readable;
    const int done = names_in(container_.calls(), memory_, container_.directory(), ".", [&](std::string_view name) {
        uint32_t major = 0;
        if (parse_plfs_version(name, major) && major != readable) found = major;
        return 0;
    });
    if (done != 0) return failed({}, "cannot list", done);
    if (found != readable)
        return container_.damaged({}, "a container of PLFS " + std::to_string(found) +
                                          "; this release reads those of PLFS " + std::to_string(readable));
    knows_version_ = true;
    return {};
}

result<void> plfs_intake::list_directories() {
    page_array<short_name> found(memory_);
    const int done = names_in(container_.calls(), memory_, container_.directory(), ".", [&](std::string_view name) {
        uint32_t number = 0;
        if (!parse_host_directory(name, number)) return 0;
        return found.push(short_name(name)) ? 0 : -ENOMEM;
    });
    if (done != 0) return failed({}, "cannot list", done);
    for (const short_name& each : found) {
        short_name path;
        if (auto resolved = resolve_directory(each, path); !resolved) return resolved;
        if (auto listed = list_directory(path.view()); !listed) return listed;
    }
    return {};
}

/// A *metalink* says where the directory is: a symbolic link, as PLFS 2.5 makes them (in_other_backend), or a file with
/// the directory's path.
result<void> plfs_intake::resolve_directory(const short_name& name, short_name& path) {
    file_calls& calls = container_.calls();
    struct stat there {};
    if (const int done = calls.status_at(container_.directory(), name.c_str(), there); done != 0)
        return failed(name.view(), "cannot look at it", done);
    path = name;
    char text[short_name::room] = {};
    int64_t bytes = 0;
    if (S_ISLNK(there.st_mode)) {
        bytes = calls.read_link_at(container_.directory(), name.c_str(), text, sizeof text);
    } else if (S_ISREG(there.st_mode)) {
        const int fd = calls.open_at(container_.directory(), name.c_str(), O_RDONLY, 0);
        if (fd < 0) return failed(name.view(), "cannot open", fd);
        bytes = read_whole(calls, fd, std::as_writable_bytes(std::span(text)), 0);
        calls.close(fd);
    } else {
        return {};
    }
    if (bytes < 0) return failed(name.view(), "cannot read", static_cast<int>(bytes));
    std::string_view target(text, strnlen(text, static_cast<size_t>(bytes)));
    if (S_ISLNK(there.st_mode)) return in_other_backend(name, target, path);
    while (target.ends_with('\n')) target.remove_suffix(1);
    return set_directory(name, target, path);
}

result<void> plfs_intake::set_directory(const short_name& name, std::string_view target, short_name& path) const {
    if (target.empty()) return container_.damaged(name.view(), "does not say where the directory is");
    // Room for a dropping's name behind it is looked at when there is one.
    if (target.size() + 1 >= short_name::room)
        return container_.damaged(name.view(), "the path of the directory in the other backend is too long");
    path = short_name(target);
    return {};
}

/// `12/other` in `/backend/one/a/file`: `/other/a/file/<name>`. The number is the length of the path of the container's
/// own backend, both as PLFS was configured: where slashes were repeated in front of one, they were before the other.
/// Any other link is one to the directory itself.
result<void> plfs_intake::in_other_backend(const short_name& name, std::string_view target, short_name& path) const {
    size_t own = 0;
    const auto [end, wrong] = std::from_chars(target.data(), target.data() + target.size(), own);
    const std::string_view other = target.substr(static_cast<size_t>(end - target.data()));
    if (wrong != std::errc() || !other.starts_with('/')) return {};
    const size_t repeated = std::min(other.find_first_not_of('/'), other.size()) - 1;
    char text[PATH_MAX] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(container_.directory());
    const int64_t bytes = container_.calls().read_link_at(AT_FDCWD, link.c_str(), text, sizeof text);
    if (bytes < 0) return failed(name.view(), "cannot find where the container is", static_cast<int>(bytes));
    const std::string_view here(text, static_cast<size_t>(bytes));
    own -= std::min(own, repeated);
    if (own >= here.size() || here[own] != '/')
        return container_.damaged(name.view(), "names a directory in " + std::string(other.substr(repeated)) +
                                                   ", for a container in a backend of another length than " +
                                                   std::string(here));
    std::string found(other.substr(repeated));
    found += std::string(here.substr(own)) + "/" + std::string(name.view());
    return set_directory(name, found, path);
}

result<void> plfs_intake::list_directory(std::string_view path) {
    const short_name directory(path);
    bool has_room = true;
    const auto look = [&](std::string_view name) {
        plfs_name parsed;
        if (!parse_plfs_name(name, parsed) || parsed.kind != dropping_kind::index) return 0;
        has_room = has_room && path.size() + 1 + name.size() < short_name::room;
        index_dropping fresh;
        fresh.path = short_name(path);
        fresh.path.add("/").add(name);
        fresh.directory = static_cast<uint32_t>(path.size());
        const uint64_t hash = hash_of(fresh.path.view());
        const auto is_it = [&](uint32_t number) { return indexes_[number].path.view() == fresh.path.view(); };
        if (by_name_.find(hash, is_it) != hashed_numbers::none) return 0;
        return indexes_.reserve(indexes_.size() + 1) && by_name_.add(hash) && indexes_.push(fresh) ? 0 : -ENOMEM;
    };
    const int done = names_in(container_.calls(), memory_, container_.directory(), directory.c_str(), look);
    if (done != 0) return failed(path, "cannot list", done);
    if (!has_room) return container_.damaged(path, "the names of its droppings are too long");
    return {};
}

/// How long the file is without a look at the indexes, and whether all that wrote have ended.
result<void> plfs_intake::list_meta() {
    has_open_writers_ = false;
    int64_t furthest = last_offset_;
    const int done = names_in(container_.calls(), memory_, container_.directory(), plfs_meta_name.data(),
                              [&](std::string_view name) {
                                  int64_t offset = 0;
                                  if (name.starts_with(plfs_open_prefix)) has_open_writers_ = true;
                                  if (parse_plfs_meta(name, offset)) furthest = std::max(furthest, offset);
                                  return 0;
                              });
    if (done == -ENOENT) return {};
    if (done != 0) return failed(plfs_meta_name, "cannot list", done);
    if (furthest > last_offset_ && !index_.add_reach(0, furthest, 0)) return failed({}, "cannot read", -ENOMEM);
    last_offset_ = furthest;
    return {};
}

/// Up to the last whole record.
result<void> plfs_intake::take_new(index_dropping& from) {
    const auto number = static_cast<size_t>(&from - indexes_.begin());
    const int fd = files_.get(key_of_index(number), container_.directory(), from.path.c_str());
    if (fd < 0) return failed(from.path.view(), "cannot open", fd);
    if (!buffer_.resize(batch_records * sizeof(plfs_record))) return failed({}, "cannot read", -ENOMEM);
    for (;;) {
        const int64_t bytes = read_whole(container_.calls(), fd, buffer_.all(), from.taken);
        if (bytes < 0) return failed(from.path.view(), "cannot read", static_cast<int>(bytes));
        const size_t records = static_cast<size_t>(bytes) / sizeof(plfs_record);
        for (size_t i = 0; i < records; ++i) {
            plfs_record what{};
            std::memcpy(static_cast<void*>(&what), buffer_.data() + i * sizeof what, sizeof what);
            const int taken = take(from, what);
            if (taken == -EIO)
                return container_.damaged(from.path.view(),
                                          "offset " + std::to_string(from.taken) + ": a record that makes no sense");
            if (taken != 0) return failed(from.path.view(), "cannot read", taken);
            from.taken += static_cast<int64_t>(sizeof what);
        }
        if (records < batch_records) return {};
    }
}

/// -EIO: it makes no sense.
int plfs_intake::take(index_dropping& from, const plfs_record& what) {
    run extent;
    if (!decode_plfs_record(what, extent) || what.id < 0) return -EIO;
    const uint32_t number = writer_of(from, what.id);
    if (number == dropping_table::none) return -ENOMEM;
    latest_ns_ = std::max(latest_ns_, extent.last_ns);
    if (extent.length == 0) return index_.add_reach(number, extent.start, extent.last_ns) ? 0 : -ENOMEM;
    if (!index_.add(number, extent)) return -ENOMEM;
    dropping& of = writers_[number];
    of.data_bytes = std::max(of.data_bytes, extent.physical_end());
    of.logical_end = std::max(of.logical_end, extent.high());
    of.written_bytes += what.length;
    ++of.writes;
    ++of.state_sequence;
    return 0;
}

/// none: no memory.
uint32_t plfs_intake::writer_of(index_dropping& from, int32_t id) {
    if (from.last_id == id) return from.last_writer;
    const std::string_view path = from.path.view();
    plfs_name name;
    short_name data;
    if (!parse_plfs_name(path.substr(from.directory + 1), name)) return dropping_table::none;
    if (!plfs_path(path.substr(0, from.directory), dropping_kind::data, name, id, data)) return dropping_table::none;
    uint32_t number = writers_.find(data.view());
    if (number == dropping_table::none) {
        number = writers_.add(data.view());
        if (number == dropping_table::none) return number;
        dropping& of = writers_[number];
        of.pid = id;
        of.created_ns = name.created_ns;
        of.has_header = true;
        // Nobody knows the boot: all of a host are taken for those of one clock.
        if (!writers_.note_clock(of, name.host, "PLFS")) return dropping_table::none;
    }
    from.last_id = id;
    from.last_writer = number;
    return number;
}

failure plfs_intake::failed(std::string_view name, std::string_view what, int why) const {
    return container_.failed(name, what, -why);
}

}  // namespace halcyon::logfs
