#include "logfs/container/tools/punch.hpp"

#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/reader.hpp"

namespace halcyon::logfs {
namespace {

constexpr int64_t block = 4096;

struct range {
    int64_t begin;
    int64_t end;
};

/// What the file reads, by data dropping.
result<std::vector<std::vector<range>>> read_ranges(reader& from) {
    std::vector<std::vector<range>> read(from.writers().size());
    const int64_t size = from.size();
    for (int64_t at = 0; at < size;) {
        const auto found = from.segments(at, size);
        if (!found) return found.why();
        for (const segment& each : *found) {
            at = each.end();
            if (each.is_hole()) continue;
            std::vector<range>& of = read[each.dropping];
            if (!of.empty() && of.back().end == each.physical)
                of.back().end += each.length;
            else
                of.push_back({each.physical, each.physical + each.length});
        }
    }
    return read;
}

/// Whole blocks before `end` that none of the ranges touches.
std::vector<range> dead_blocks(std::vector<range> read, int64_t end) {
    std::sort(read.begin(), read.end(), [](const range& a, const range& b) { return a.begin < b.begin; });
    read.push_back({end, end});
    std::vector<range> dead;
    int64_t at = 0;
    for (const range& each : read) {
        const int64_t from = (at + block - 1) / block * block;
        const int64_t to = std::min(each.begin, end) / block * block;
        if (from < to) dead.push_back({from, to});
        at = std::max(at, each.end);
    }
    return dead;
}

/// Says for good that bytes under lost records may be gone: for check and repair.
int mark_punched(container& what) {
    const int fd = what.calls().open_at(what.directory(), punched_name.data(), O_WRONLY | O_CREAT, 0644);
    if (fd < 0) return fd;
    return what.calls().close(fd);
}

}  // namespace

result<punch_report> punch_dead(container& what) {
    reader_options how;
    how.stops_at_commit = true;
    reader synced(what, how);
    if (auto done = synced.reload(); !done) return done.why();
    const auto read = read_ranges(synced);
    if (!read) return read.why();
    punch_report report;
    for (uint32_t i = 0; i < read->size(); ++i) {
        const std::vector<range> dead = dead_blocks((*read)[i], synced.writers()[i].committed_bytes);
        if (dead.empty()) continue;
        if (const int done = mark_punched(what); done != 0) return what.failed(punched_name, "cannot create", -done);
        const short_name name = with_kind(synced.writers().name_of(i), dropping_kind::data);
        const int fd = what.calls().open_at(what.directory(), name.c_str(), O_WRONLY, 0);
        if (fd < 0) return what.failed(name.view(), "cannot open", -fd);
        int done = 0;
        for (const range& each : dead) {
            report.dead_bytes += each.end - each.begin;
            done = what.calls().punch(fd, each.begin, each.end - each.begin);
            if (done != 0) break;
            report.punched_bytes += each.end - each.begin;
        }
        what.calls().close(fd);
        if (done != 0) return what.failed(name.view(), "cannot give back dead blocks", -done);
    }
    return report;
}

}  // namespace halcyon::logfs
