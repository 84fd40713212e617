#include "logfs/container/tools/stats.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/space/giving_back.hpp"

namespace halcyon::logfs {

int64_t bytes_of(std::span<const conflict> found) {
    int64_t bytes = 0;
    for (const conflict& each : found) bytes += each.length;
    return bytes;
}

result<void> map(reader& of, int64_t begin, int64_t end, const std::function<bool(const segment&)>& visit,
                 int64_t* conflict_bytes) {
    segment pending;
    for (int64_t at = begin; at < end;) {
        const auto found = of.segments(at, end);
        if (!found) return found.why();
        at = found->back().end();
        if (conflict_bytes != nullptr) *conflict_bytes += bytes_of(of.conflicts());
        for (const segment& each : *found) {
            // What goes on over the end of a part is one.
            const bool goes_on =
                pending.length > 0 && (each.is_hole() ? pending.is_hole()
                                                      : !pending.is_hole() && pending.dropping == each.dropping &&
                                                            pending.physical + pending.length == each.physical);
            if (goes_on) {
                pending.length += each.length;
                continue;
            }
            if (pending.length > 0 && !visit(pending)) return {};
            pending = each;
        }
    }
    if (pending.length > 0) visit(pending);
    return {};
}

result<int64_t> conflict_bytes(container& what) {
    int64_t found = 0;
    if (what.is_plfs()) return found;
    reader_options how;
    how.finds_conflicts = true;
    reader from(what, how);
    if (auto done = from.reload(); !done) return done.why();
    const auto pass_over = [](const segment&) { return true; };
    if (auto mapped = map(from, 0, from.size(), pass_over, &found); !mapped) return mapped.why();
    return found;
}

result<container_stats> stats(container& what) {
    reader_options how;
    how.finds_conflicts = !what.is_plfs();
    reader from(what, how);
    if (auto done = from.reload(); !done) return done.why();
    container_stats all;
    all.index_bytes = from.plfs_index_bytes();
    all.size = from.size();
    all.patterns = from.index().patterns();
    all.extents = from.index().extents();
    std::set<uint32_t> clocks;
    std::set<std::string> nodes;
    std::set<std::pair<dev_t, ino_t>> shared;
    for (uint32_t i = 0; i < from.writers().size(); ++i) {
        const dropping& each = from.writers()[i];
        if (each.is_gone || !each.has_header) continue;
        ++all.writers;
        all.open_writers += each.is_closed || each.rests ? 0 : 1;
        all.writes += each.writes;
        all.written_bytes += static_cast<int64_t>(each.written_bytes);
        clocks.insert(each.clock);
        struct stat file {};
        const char* const index = from.writers().name_of(i);
        if (!what.is_plfs() && what.calls().status_at(what.directory(), index, file) == 0)
            all.index_bytes += file.st_size;
        const short_name data = from.writers().data_name_of(i);
        all.durable_bytes += std::min(each.committed_bytes, each.data_bytes);
        if (what.calls().status_at(what.directory(), data.c_str(), file) != 0) {
            staged_mark mark;
            if (what.is_plfs() || mark.read(what, data.view()) != 0) continue;
            all.staged_bytes += each.data_bytes - std::min(each.committed_bytes, each.data_bytes);
            nodes.emplace(mark.host());
            continue;
        }
        // One that the writers of a node share counts once.
        if (file.st_nlink > 1 && !shared.emplace(file.st_dev, file.st_ino).second) continue;
        all.data_bytes += file.st_size;
        all.data_blocks_bytes += int64_t{file.st_blocks} * 512;
    }
    all.hosts = clocks.size();
    all.staged_on.assign(nodes.begin(), nodes.end());
    const auto count = [&](const segment& each) {
        if (each.is_hole())
            all.hole_bytes += each.length;
        else
            ++all.segments;
        return true;
    };
    auto mapped = map(from, 0, all.size, count, &all.conflict_bytes);
    if (!mapped) return mapped.why();
    all.reader_bytes = from.memory().peak();
    if (!what.is_plfs()) all.why_not_given_back = read_why_not_given_back(what);
    return all;
}

}  // namespace halcyon::logfs
