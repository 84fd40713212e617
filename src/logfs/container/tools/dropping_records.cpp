#include "logfs/container/tools/dropping_records.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <string>

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
        into_.damages.push_back(what);
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

int read_header(file_calls& calls, int fd, index_header& out, bool& found) {
    found = false;
    for (const size_t at : {size_t{0}, header_copy_at}) {
        index_header header{};
        const iovec part{&header, sizeof header};
        const int64_t bytes = calls.read_at(fd, &part, 1, static_cast<int64_t>(at));
        if (bytes < 0) return static_cast<int>(bytes);
        if (bytes != static_cast<int64_t>(sizeof header) || !is_sound(header)) continue;
        out = header;
        found = true;
        return 0;
    }
    return 0;
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
    memory_source memory(calls);
    dropping_table table(memory);
    int done = read_header(calls, fd, all.header, all.has_header);
    if (done == 0) {
        // Where both headers are damaged, the name still says by which salt the check sums were made.
        all.state.has_header = !all.has_header;
        all.state.salt = all.header.salt;
        index_scan scan(calls, memory);
        gathering into(all);
        if (!all.has_header) into.found({index_damage::part::header, false, 0, 0, 0, 0});
        done = scan.go_on(fd, all.state, table, into);
        for (uint32_t i = 0; i < all.state.live_runs; ++i) {
            record last;
            last.what = all.state.live[i];
            all.records.push_back(last);
        }
    }
    calls.close(fd);
    if (done != 0) return from.failed(path, "cannot read", -done);
    return all;
}

}  // namespace halcyon::logfs
