#include "logfs/container/tools/dropping_records.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/dropping_table.hpp"

namespace halcyon::logfs {
namespace {

class gathering final : public index_visitor {
  public:
    explicit gathering(dropping_records& into) : into_(into) {}
    int take(const record& what) override {
        into_.records.push_back(what);
        return 0;
    }
    bool found(const index_damage& what) override {
        if (into_.damages.empty() || !into_.damages.back().join(what)) into_.damages.push_back(what);
        return true;
    }

  private:
    dropping_records& into_;
};

/// What a header said of which only the name is left.
index_header header_of(const dropping_name& name) {
    index_header header{};
    std::memcpy(header.magic, index_magic, sizeof header.magic);
    header.version = format_version;
    header.byte_order = byte_order_mark;
    header.block_size = block_bytes;
    header.rank = -1;
    header.pid = name.pid;
    header.created_ns = name.created_ns;
    header.salt = salt_of(name.created_ns, name.pid);
    header.clock_bound_ns = 16'000'000'000;
    std::memcpy(header.host, name.host.data(), std::min(name.host.size(), sizeof header.host - 1));
    return header;
}

bool is_sound(const index_header& header) {
    return std::memcmp(header.magic, index_magic, sizeof index_magic) == 0 && header.version == format_version &&
           header.check == check_of(header, 0);
}

int read_header(file_calls& calls, int fd, dropping_records& into) {
    for (const size_t at : {size_t{0}, header_copy_at}) {
        index_header header{};
        const auto whole = std::as_writable_bytes(std::span(&header, 1));
        const int64_t bytes = read_whole(calls, fd, whole, static_cast<int64_t>(at));
        if (bytes < 0) return static_cast<int>(bytes);
        if (bytes != static_cast<int64_t>(sizeof header) || !is_sound(header)) continue;
        into.header = header;
        into.has_header = true;
        return 0;
    }
    return 0;
}

int read_records(file_calls& calls, int fd, dropping_records& into) {
    memory_source memory(calls);
    dropping_table table(memory);
    index_scan scan(calls, memory);
    gathering visitor(into);
    int done = scan.go_on(fd, into.state, table, visitor);
    if (done == 0 && !into.state.has_header && !into.damages.empty()) {
        // Both headers are damaged. The name still says by which salt the check sums were made.
        into.state.has_header = true;
        done = scan.go_on(fd, into.state, table, visitor);
    }
    into.is_begun = into.state.has_header;
    for (uint32_t i = 0; i < into.state.live_runs; ++i)
        into.records.push_back({record_kind::run, into.state.live[i], 0});
    return done;
}

}  // namespace

result<dropping_records> read_dropping(container& from, std::string_view path) {
    const short_name name(path);
    dropping_name parsed;
    if (!parse_dropping_name(path.substr(path.rfind('/') + 1), parsed))
        return failure{error_kind::usage, std::string(from.path()) + "/" + std::string(path) + ": no index dropping",
                       0};
    file_calls& calls = from.calls();
    const int fd = calls.open_at(from.directory(), name.c_str(), O_RDONLY, 0);
    if (fd < 0) return from.failed(path, "cannot open", -fd);
    dropping_records all;
    all.header = header_of(parsed);
    all.state.salt = all.header.salt;
    int done = read_header(calls, fd, all);
    if (done == 0) done = read_records(calls, fd, all);
    calls.close(fd);
    if (done != 0) return from.failed(path, "cannot read", -done);
    for (const index_damage& each : all.damages) {
        if (each.what == index_damage::part::version)
            return from.damaged(path, "format version " + std::to_string(each.seen) + "; this release reads version " +
                                          std::to_string(format_version));
    }
    return all;
}

}  // namespace halcyon::logfs
