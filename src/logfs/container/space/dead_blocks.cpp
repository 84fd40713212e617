#include "logfs/container/space/dead_blocks.hpp"

#include <algorithm>
#include <cerrno>

namespace halcyon::logfs {
namespace {

bool push_whole_blocks(int64_t begin, int64_t end, page_array<byte_range>& into) {
    constexpr int64_t block = dead_blocks::block;
    const int64_t from = begin > INT64_MAX - block ? end : (begin + block - 1) / block * block;
    const int64_t to = end / block * block;
    return from >= to || into.push({from, to});
}

void sort_by_begin(page_array<byte_range>& ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const byte_range& a, const byte_range& b) { return a.begin < b.begin; });
}

}  // namespace

result<void> dead_blocks::look(reader& in) {
    live_.clear();
    const int64_t size = in.size();
    for (int64_t at = 0; at < size;) {
        const auto found = in.segments(at, size);
        if (!found) return found.why();
        at = found->back().end();
        for (const segment& each : *found) {
            if (!each.is_hole() && !note(each)) return in.of().failed({}, "cannot look for dead extents", ENOMEM);
        }
    }
    for (live_range& each : live_) in.checks().widen(each.dropping, each.bytes.begin, each.bytes.end);
    std::sort(live_.begin(), live_.end(), [](const live_range& a, const live_range& b) {
        return a.dropping != b.dropping ? a.dropping < b.dropping : a.bytes.begin < b.bytes.begin;
    });
    return {};
}

bool dead_blocks::note(const segment& read) {
    if (!live_.empty() && live_.back().dropping == read.dropping && live_.back().bytes.end == read.physical) {
        live_.back().bytes.end += read.length;
        return true;
    }
    return live_.push({read.dropping, {read.physical, read.physical + read.length}});
}

std::span<const dead_blocks::live_range> dead_blocks::of(uint32_t dropping) const {
    const auto* const first = std::partition_point(live_.begin(), live_.end(),
                                                   [&](const live_range& each) { return each.dropping < dropping; });
    const auto* const last =
        std::partition_point(first, live_.end(), [&](const live_range& each) { return each.dropping == dropping; });
    return {first, static_cast<size_t>(last - first)};
}

bool dead_blocks::find(uint32_t dropping, int64_t begin, int64_t end, page_array<byte_range>& dead) const {
    int64_t at = begin;
    for (const live_range& each : of(dropping)) {
        if (each.bytes.begin >= end) break;
        if (each.bytes.begin > at && !push_whole_blocks(at, each.bytes.begin, dead)) return false;
        at = std::max(at, each.bytes.end);
    }
    return at >= end || push_whole_blocks(at, end, dead);
}

int64_t dead_blocks::live_bytes(uint32_t dropping) const {
    int64_t bytes = 0;
    int64_t at = 0;
    for (const live_range& each : of(dropping)) {
        bytes += std::max<int64_t>(0, each.bytes.end - std::max(at, each.bytes.begin));
        at = std::max(at, each.bytes.end);
    }
    return bytes;
}

int64_t total_bytes(std::span<const byte_range> ranges) {
    int64_t bytes = 0;
    for (const byte_range& each : ranges) bytes += each.bytes();
    return bytes;
}

bool unite(page_array<byte_range>& all, std::span<const byte_range> more) {
    if (!all.append(more)) return false;
    sort_by_begin(all);
    size_t kept = 0;
    for (const byte_range& each : all) {
        if (kept > 0 && all[kept - 1].end >= each.begin)
            all[kept - 1].end = std::max(all[kept - 1].end, each.end);
        else
            all[kept++] = each;
    }
    all.cut(kept);
    return true;
}

bool subtract(std::span<const byte_range> from, std::span<const byte_range> without, page_array<byte_range>& out) {
    auto taken = without.begin();
    for (const byte_range& each : from) {
        int64_t at = each.begin;
        while (taken != without.end() && taken->end <= at) ++taken;
        for (auto next = taken; at < each.end; ++next) {
            const bool is_last = next == without.end() || next->begin >= each.end;
            const int64_t to = is_last ? each.end : next->begin;
            if (at < to && !out.push({at, to})) return false;
            at = is_last ? each.end : std::max(at, next->end);
        }
    }
    return true;
}

}  // namespace halcyon::logfs
