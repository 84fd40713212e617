#include "logfs/container/reading/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

namespace halcyon::logfs {

reader::reader(container& from, const reader_options& how)
    : container_(from),
      memory_(from.calls(), how.most_memory_bytes),
      files_(from.calls(), memory_, how.most_descriptors),
      writers_(memory_),
      index_(memory_, writers_, how.finds_conflicts),
      checks_(from.calls(), memory_),
      intake_(from, memory_, files_, writers_, index_, checks_),
      overlay_(memory_, writers_),
      data_(from, memory_, files_, writers_, checks_, how.verifies_data),
      segments_(memory_),
      conflicts_(memory_),
      finds_conflicts_(how.finds_conflicts) {
    intake_.set({how.salvages, how.stops_at_commit, how.verifies_data || how.salvages, how.host, how.boot_id});
}

result<void> reader::reload() {
    return intake_.reload();
}

result<void> reader::reload_writer(std::string_view name) {
    return intake_.reload_one(name);
}

int64_t reader::size() {
    int64_t size = index_.size();
    for (const uint32_t number : intake_.live()) {
        const dropping& of = writers_[number];
        for (uint32_t i = 0; i < of.live_runs; ++i) size = std::max(size, index_.end_after_cuts(number, of.live[i]));
    }
    return size;
}

/// All pieces in the range. False: no memory.
bool reader::collect(int64_t begin, int64_t end) {
    page_array<piece>& pieces = overlay_.pieces();
    pieces.clear();
    if (!index_.collect(begin, end, pieces)) return false;
    for (const uint32_t number : intake_.live()) {
        const dropping& of = writers_[number];
        for (uint32_t i = 0; i < of.live_runs; ++i) {
            const run& what = of.live[i];
            if (what.low() < end && what.high() > begin &&
                !merged_index::collect_run({what, number, false}, begin, end, pieces))
                return false;
        }
    }
    return true;
}

bool reader::resolve(int64_t begin, int64_t end) {
    segments_.clear();
    conflicts_.clear();
    return collect(begin, end) && overlay_.resolve(begin, end, segments_, finds_conflicts_ ? &conflicts_ : nullptr);
}

/// A call resolves as much at a time as is worth its while and does not take much memory.
void reader::adapt_window() {
    constexpr size_t many = 16384;
    constexpr size_t few = 1024;
    constexpr int64_t least = int64_t{1} << 16;
    constexpr int64_t most = int64_t{1} << 24;
    const size_t pieces = overlay_.pieces().size();
    if (pieces > many && window_bytes_ > least) window_bytes_ /= 2;
    if (pieces < few && window_bytes_ < most) window_bytes_ *= 2;
}

result<int64_t> reader::read(int64_t offset, std::span<std::byte> out) {
    if (offset < 0)
        return failure{error_kind::usage, std::string(container_.path()) + ": a read before the beginning of the file",
                       EINVAL};
    const int64_t end = std::min(size(), offset + std::min(static_cast<int64_t>(out.size()), INT64_MAX - offset));
    for (int64_t at = offset; at < end;) {
        const int64_t until = std::min(end, at + std::min(window_bytes_, INT64_MAX - at));
        if (!resolve(at, until)) return container_.failed({}, "cannot read", ENOMEM);
        const auto part = out.subspan(static_cast<size_t>(at - offset), static_cast<size_t>(until - at));
        if (auto done = data_.read(segments_.all(), at, part); !done) {
            if (at > offset) return at - offset;
            return done.why();
        }
        at = until;
        adapt_window();
    }
    return std::max(int64_t{0}, end - offset);
}

int64_t reader::next_start(int64_t position) {
    int64_t next = index_.next_start(position);
    for (const uint32_t number : intake_.live()) {
        const dropping& of = writers_[number];
        for (uint32_t i = 0; i < of.live_runs; ++i)
            next = std::min(next, merged_index::next_start_of(of.live[i], position));
    }
    return next;
}

result<std::span<const segment>> reader::segments(int64_t begin, int64_t end) {
    if (begin < 0 || begin >= end)
        return failure{error_kind::usage, std::string(container_.path()) + ": an empty range of the file", EINVAL};
    const int64_t until = std::min(end, begin + std::min(window_bytes_, INT64_MAX - begin));
    if (!resolve(begin, until)) return container_.failed({}, "cannot resolve its index", ENOMEM);
    adapt_window();
    segment& last = segments_.back();
    if (last.is_hole() && last.end() == until && until < end && !lengthen_hole(last, end))
        return container_.failed({}, "cannot resolve its index", ENOMEM);
    return std::span<const segment>(segments_.all());
}

/// To where something begins, unless there are data under what makes it a hole. False: no memory.
bool reader::lengthen_hole(segment& last, int64_t end) {
    const int64_t next = std::min(end, next_start(last.end()));
    if (next == last.end()) return true;
    if (!collect(last.end(), next)) return false;
    const page_array<piece>& pieces = overlay_.pieces();
    const bool is_hole = std::all_of(pieces.begin(), pieces.end(), [](const piece& each) { return each.is_hole; });
    if (is_hole) last.length = next - last.start;
    return true;
}

result<int64_t> reader::next_data(int64_t offset) {
    const int64_t end = size();
    for (int64_t at = offset; at < end;) {
        const auto found = segments(at, end);
        if (!found) return found.why();
        for (const segment& each : *found) {
            if (!each.is_hole()) return each.start;
            at = each.end();
        }
    }
    return int64_t{-1};
}

result<int64_t> reader::next_hole(int64_t offset) {
    const int64_t end = size();
    if (offset >= end) return int64_t{-1};
    for (int64_t at = offset; at < end;) {
        const auto found = segments(at, end);
        if (!found) return found.why();
        for (const segment& each : *found) {
            if (each.is_hole()) return each.start;
            at = each.end();
        }
    }
    return end;
}

uint32_t reader::torn_writers() const {
    uint32_t count = 0;
    for (uint32_t i = 0; i < writers_.size(); ++i) count += writers_[i].is_cut ? 1 : 0;
    return count;
}

}  // namespace halcyon::logfs
