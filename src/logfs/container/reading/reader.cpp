#include "logfs/container/reading/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace halcyon::logfs {
namespace {

// A call resolves as many pieces at a time as are worth its while and do not take much memory.
constexpr size_t most_pieces = size_t{1} << 18;
constexpr size_t many_pieces = 16384;
constexpr size_t few_pieces = 1024;

// Of what follows a read, so much is resolved with it: first, and in the end.
constexpr int64_t least_ahead_bytes = 65536;
constexpr int64_t most_ahead_bytes = int64_t{1} << 20;

// Reads up to this size, one behind the other, are read together: never more than they have read by then.
constexpr size_t most_small_bytes = 16384;
constexpr int64_t most_kept_bytes = 131072;

/// Beside droppings: the marker, where the view is held, and a directory or what is looked at for a moment.
uint32_t descriptors_for_droppings(uint32_t most) {
    constexpr uint32_t others = 2;
    return most > others ? most - others : 1;
}

/// Of the process, or of the whole system.
bool has_no_descriptor(int error) {
    return error == EMFILE || error == ENFILE;
}

}  // namespace

reader::reader(container& from, const reader_options& how)
    : container_(from),
      memory_(from.calls(), how.most_memory_bytes),
      files_(from.calls(), memory_, descriptors_for_droppings(how.most_descriptors)),
      writers_(memory_),
      index_(memory_, writers_),
      checks_(from.calls(), memory_),
      intake_(from, memory_, files_, writers_, index_, checks_),
      shared_(from, memory_, writers_, index_, intake_),
      plfs_(from, memory_, files_, writers_, index_),
      view_(from),
      overlay_(memory_, writers_),
      conflict_finder_(memory_, writers_),
      data_(from, memory_, files_, writers_, checks_, how.verifies_data),
      segments_(memory_),
      conflicts_(memory_),
      finds_conflicts_(how.finds_conflicts),
      kept_(memory_) {
    index_intake::options taking;
    taking.salvages = how.salvages;
    taking.stops_at_commit = how.stops_at_commit;
    taking.wants_checks = how.verifies_data || how.salvages;
    taking.wants_epochs = how.finds_conflicts;
    taking.host = how.host;
    taking.boot_id = how.boot_id;
    intake_.set(taking);
    const bool takes_all = !taking.salvages && !taking.stops_at_commit && !taking.wants_checks && !taking.wants_epochs;
    if (takes_all) shared_.set(how.sharing, how.boot_id);
}

result<void> reader::reload() {
    has_changed();
    if (container_.is_plfs()) return plfs_.reload();
    if (const int looked = view_.look(); looked != 0) return container_.failed(punched_name, "cannot read", -looked);
    shared_.begin();
    auto taken = intake_.reload();
    if (shared_.begins_anew()) {
        files_.close_all();
        data_.files().begin_anew();
        taken = intake_.reload();
    }
    auto done = has_taken(std::move(taken));
    if (done) {
        view_.has_taken();
        shared_.leave();
    }
    shared_.end();
    return done;
}

/// What is in an image is looked at when it is needed. Taking more may have needed it, and so may the size.
result<void> reader::has_taken(result<void> done) {
    if (shared_.is_used()) static_cast<void>(index_.size());
    return index_.is_damaged() ? start_over() : done;
}

/// Without the image that it began with, which is not as it was saved: from the writers.
result<void> reader::start_over() {
    shared_.reject();
    files_.close_all();
    data_.files().begin_anew();
    return reload();
}

result<void> reader::reload_writer(std::string_view name) {
    has_changed();
    if (auto ours = container_.expect_ours(); !ours) return ours;
    return has_taken(intake_.reload_one(name));
}

/// From here on nothing is given back of what is shown.
result<void> reader::hold() {
    if (container_.is_plfs()) return {};
    // As often as somebody may give something back in the meantime.
    constexpr int most_rounds = 1000;
    for (int round = 0; round < most_rounds; ++round) {
        int held = view_.hold();
        if (has_no_descriptor(-held) && files_.size() > 0) {
            files_.close_all();
            held = view_.hold();
        }
        if (held == 0) return {};
        if (held < 0) return container_.failed(marker_name, "cannot lock", -held);
        auto taken = reload();
        if (!taken && has_no_descriptor(taken.why().system_errno) && files_.size() > 0) {
            files_.close_all();
            taken = reload();
        }
        if (!taken) return taken;
    }
    return container_.failed({}, "dead extents are given back all the time", EAGAIN);
}

int64_t reader::size() {
    if (is_measured_) return size_;
    is_measured_ = true;
    size_ = index_.size();
    for (const live_runs::place& each : intake_.live()) {
        if (each.high <= size_) continue;
        const dropping& of = writers_[each.dropping];
        for (uint32_t i = 0; i < of.live_runs; ++i)
            size_ = std::max(size_, index_.end_after_cuts(each.dropping, of.live[i]));
    }
    return size_;
}

/// All pieces in the range. False: no memory, or too many.
bool reader::collect(int64_t begin, int64_t end, size_t most) {
    page_array<piece>& pieces = overlay_.pieces();
    pieces.clear();
    piece_collector into(pieces, begin, end, most);
    if (!index_.collect(into)) return false;
    for (const live_runs::place& each : intake_.live()) {
        if (!into.overlaps(each.low, each.high)) continue;
        const dropping& of = writers_[each.dropping];
        for (uint32_t i = 0; i < of.live_runs; ++i) {
            const run& what = of.live[i];
            if (into.overlaps(what.low(), what.high()) && !into.add(what, each.dropping, false)) return false;
        }
    }
    return true;
}

bool reader::put_over_each_other(int64_t begin, int64_t end) {
    segments_.clear();
    conflicts_.clear();
    const bool done = finds_conflicts_ ? conflict_finder_.resolve(overlay_, conflicts_) : overlay_.resolve();
    return done && append_segments(overlay_.pieces().all(), begin, end, segments_);
}

/// Of the range as much as can be resolved at once: to where; -1: there is no memory for a single byte, or the index is
/// damaged.
int64_t reader::resolve(int64_t begin, int64_t end, purpose of) {
    resolved_end_ = 0;
    for (int64_t bytes = std::min(window_bytes_, end - begin);; bytes /= 2) {
        // Of one byte no record makes more than one piece.
        const size_t most = bytes > 1 ? most_pieces : SIZE_MAX;
        const bool is_collected = collect(begin, begin + bytes, most);
        const size_t pieces = overlay_.pieces().size();
        const bool is_resolved = is_collected && put_over_each_other(begin, begin + bytes);
        if (is_resolved && (of == purpose::looking || data_.reserve(segments_.size()))) {
            if (bytes == window_bytes_) adapt_window(pieces);
            return begin + bytes;
        }
        if (bytes == 1 || index_.is_damaged()) return -1;
        release();
        window_bytes_ = bytes / 2;
    }
}

/// What half of the bytes take is less.
void reader::release() {
    resolved_end_ = 0;
    overlay_.release();
    conflict_finder_.release();
    data_.release();
    segments_.release();
    conflicts_.release();
    kept_.release();
}

void reader::adapt_window(size_t pieces) {
    if (pieces > many_pieces && window_bytes_ > 1) window_bytes_ /= 2;
    if (pieces < few_pieces && window_bytes_ <= INT64_MAX / 2) window_bytes_ *= 2;
}

result<int64_t> reader::read(int64_t offset, std::span<std::byte> out) {
    if (offset < 0)
        return failure{error_kind::usage, std::string(container_.path()) + ": a read before the beginning of the file",
                       EINVAL};
    if (auto held = hold(); !held) return held.why();
    const int64_t end = std::min(size(), offset + std::min(static_cast<int64_t>(out.size()), INT64_MAX - offset));
    const bool is_next = offset == next_read_;
    ahead_bytes_ = is_next ? std::clamp(2 * ahead_bytes_, least_ahead_bytes, most_ahead_bytes) : 0;
    if (!is_next) in_row_bytes_ = 0;
    in_row_bytes_ += std::max(int64_t{0}, end - offset);
    next_read_ = end;
    for (int64_t at = offset; at < end;) {
        const auto rest = out.subspan(static_cast<size_t>(at - offset), static_cast<size_t>(end - at));
        const size_t kept = kept_.take(at, rest);
        at += static_cast<int64_t>(kept);
        if (kept > 0 || keep_from(at, out.size())) continue;
        const int64_t until = resolve_for_reading(at, end);
        if (until < 0 && index_.is_damaged()) {
            if (auto again = start_over(); !again) return again.why();
            return read(offset, out);
        }
        if (until < 0) return container_.failed({}, "cannot read", ENOMEM);
        if (auto done = read_resolved(at, rest.first(static_cast<size_t>(until - at))); !done) {
            if (at > offset) return at - offset;
            return done.why();
        }
        at = until;
    }
    return std::max(int64_t{0}, end - offset);
}

/// As resolve(), or less: what is known of it. Where one read follows another, what comes next is resolved as well:
/// reads are often much smaller than what a writer wrote in one piece.
int64_t reader::resolve_for_reading(int64_t begin, int64_t end) {
    if (begin < resolved_begin_ || begin >= resolved_end_) {
        const int64_t beyond = std::min(std::max(end, size_), end + std::min(ahead_bytes_, INT64_MAX - end));
        const int64_t until = resolve(begin, beyond, purpose::reading);
        if (until < 0) return until;
        resolved_begin_ = begin;
        resolved_end_ = until;
        first_segment_ = 0;
    }
    return std::min(end, resolved_end_);
}

/// The segment that begins there. What lies before `begin` is not known any more.
segment& reader::go_to(int64_t begin) {
    while (segments_[first_segment_].end() <= begin) ++first_segment_;
    segment& first = segments_[first_segment_];
    if (first.start < begin) {
        if (!first.is_hole()) first.physical += begin - first.start;
        first.length = first.end() - begin;
        first.start = begin;
    }
    resolved_begin_ = begin;
    return first;
}

result<void> reader::read_resolved(int64_t begin, std::span<std::byte> out) {
    const int64_t end = begin + static_cast<int64_t>(out.size());
    go_to(begin);
    size_t last = first_segment_;
    while (segments_[last].end() < end) ++last;
    const int64_t whole = std::exchange(segments_[last].length, end - segments_[last].start);
    auto done = data_.read(segments_.all().subspan(first_segment_, last - first_segment_ + 1), begin, out);
    segments_[last].length = whole;
    return done;
}

result<int64_t> reader::copy_out(int64_t offset, int64_t bytes, int to, int64_t* to_offset, int64_t least_piece) {
    if (offset < 0 || bytes < 0) return int64_t{0};
    if (auto held = hold(); !held) return held.why();
    const int64_t end = std::min(size(), offset + std::min(bytes, INT64_MAX - offset));
    int64_t at = offset;
    // Of a long piece a short rest may be all that is left, or all that was resolved.
    int spare = 1;
    while (at < end) {
        if (resolve_for_reading(at, end) < 0) break;
        segment next = go_to(at);
        next.length = std::min(next.length, end - at);
        spare = next.length < least_piece ? spare - 1 : 2;
        if (next.is_hole() || spare < 0) break;
        const int64_t copied = data_.copy(next, to, to_offset);
        if (copied == 0) break;
        at += copied;
    }
    return at - offset;
}

/// What small reads that follow one another will ask for next. False: nothing; what was asked for has to be read.
bool reader::keep_from(int64_t begin, size_t asked) {
    const int64_t wanted = std::min({in_row_bytes_, most_kept_bytes, size_ - begin});
    if (asked > most_small_bytes || wanted < 2 * static_cast<int64_t>(asked)) return false;
    const int64_t until = resolve_for_reading(begin, begin + wanted);
    if (until < 0) return false;
    const auto bytes = static_cast<size_t>(until - begin);
    const auto room = kept_.room(bytes);
    if (room.empty()) return false;
    if (!read_resolved(begin, room)) {
        // What lies behind what was asked for may be missing, or lie on another node.
        in_row_bytes_ = 0;
        return false;
    }
    kept_.has(begin, bytes);
    return true;
}

int64_t reader::next_start(int64_t position) {
    int64_t next = index_.next_start(position);
    for (const live_runs::place& each : intake_.live()) {
        if (each.high <= position) continue;
        const dropping& of = writers_[each.dropping];
        for (uint32_t i = 0; i < of.live_runs; ++i)
            next = std::min(next, merged_index::next_start_of(of.live[i], position));
    }
    return next;
}

result<std::span<const segment>> reader::segments(int64_t begin, int64_t end) {
    if (begin < 0 || begin >= end)
        return failure{error_kind::usage, std::string(container_.path()) + ": an empty range of the file", EINVAL};
    const int64_t until = resolve(begin, end, purpose::looking);
    if (until < 0 && index_.is_damaged()) {
        if (auto again = start_over(); !again) return again.why();
        return segments(begin, end);
    }
    if (until < 0) return container_.failed({}, "cannot resolve its index", ENOMEM);
    segment& last = segments_.back();
    if (last.is_hole() && last.end() == until && until < end) lengthen_hole(last, end);
    return std::span<const segment>(segments_.all());
}

/// To where something begins, unless there are data under what makes it a hole, or too much to look at.
void reader::lengthen_hole(segment& last, int64_t end) {
    const int64_t next = std::min(end, next_start(last.end()));
    if (next == last.end() || !collect(last.end(), next, most_pieces)) return;
    const page_array<piece>& pieces = overlay_.pieces();
    const bool is_hole = std::all_of(pieces.begin(), pieces.end(), [](const piece& each) { return each.is_hole; });
    if (is_hole) last.length = next - last.start;
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
    for (uint32_t i = 0; i < writers_.size(); ++i) count += writers_[i].is_cut ? 1U : 0U;
    return count;
}

}  // namespace halcyon::logfs
