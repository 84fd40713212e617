#include "logfs/container/reading/merged_index.hpp"

#include <algorithm>
#include <bit>

namespace halcyon::logfs {
namespace {

int64_t floor_of(int64_t a, int64_t b) {
    const int64_t quotient = a / b;
    return a % b < 0 ? quotient - 1 : quotient;
}

bool collect_extent(const extent& from, int64_t begin, int64_t end, page_array<piece>& into) {
    piece found{from.start, from.end(), from.physical, from.time_ns, from.time_ns, from.dropping, false, 0};
    if (from.is_exact == 0) found.error_exponent = extent::error_exponent;
    found.clip(begin, end);
    return into.push(found);
}

run run_of(const extent& from) {
    run what{from.start, from.length, 0, 1, from.physical, from.time_ns, from.time_ns, 0, 0};
    if (from.is_exact == 0) what.error_exponent = extent::error_exponent;
    return what;
}

/// Where all elements of a pattern lie one behind the other, it is one extent, whose times are less exact.
run as_extent(const run& what) {
    run whole = what;
    whole.length = what.bytes();
    whole.count = 1;
    whole.stride = 0;
    const int64_t gap_ns = what.span_ns() / (what.count - 1);
    const auto doubt_ns = static_cast<uint64_t>(std::max(what.error_ns(), gap_ns));
    whole.error_exponent =
        doubt_ns == 0 ? 0 : std::min<uint32_t>(62, static_cast<uint32_t>(std::bit_width(doubt_ns)) + 1);
    return whole;
}

/// Where each element replaces the one before.
run last_element(const run& what) {
    run last = what;
    last.physical += what.length * (what.count - 1);
    last.count = 1;
    last.stride = 0;
    last.first_ns = last.last_ns;
    return last;
}

run element_of(const run& what, int64_t i) {
    const int64_t time_ns = what.time_of(i);
    return {what.start_of(i), what.length,         0, 1, what.physical + i * what.length, time_ns,
            time_ns,          what.error_exponent, 0};
}

}  // namespace

merged_index::merged_index(memory_source& memory, const dropping_table& writers, bool keeps_dead)
    : memory_(memory),
      keeps_dead_(keeps_dead),
      fresh_runs_(memory),
      fresh_extents_(memory),
      run_levels_(memory),
      extent_levels_(memory),
      cuts_(memory, writers, size_history::kind::cut),
      reaches_(memory, writers, size_history::kind::reach) {}

void merged_index::reach_to(int64_t end) {
    size_ = std::max(size_, end);
}

bool merged_index::add(uint32_t dropping, const run& what) {
    reach_to(end_after_cuts(dropping, what));
    if (!what.is_pattern()) return add_single(dropping, what);
    if (what.stride == what.length) return add_single(dropping, as_extent(what));
    if (what.stride == 0) return add_single(dropping, last_element(what));
    if (what.count >= least_elements) return add_placed({what, dropping, false});
    for (int64_t i = 0; i < what.count; ++i) {
        if (!add_single(dropping, element_of(what, i))) return false;
    }
    return true;
}

/// In little room where the time is one moment, or nearly.
bool merged_index::add_single(uint32_t dropping, const run& what) {
    constexpr int64_t doubt_ns = int64_t{1} << extent::error_exponent;
    if (what.length > extent::longest || what.span_ns() + what.error_ns() > doubt_ns)
        return add_placed({what, dropping, false});
    extent small;
    small.start = what.start;
    small.time_ns = what.last_ns;
    small.physical = what.physical;
    small.length = static_cast<uint32_t>(what.length) & 0x7fffffffU;
    small.is_exact = what.span_ns() == 0 && what.error_exponent == 0 ? 1 : 0;
    small.dropping = dropping;
    return fresh_extents_.push(small);
}

bool merged_index::add_placed(const placed_run& what) {
    return fresh_runs_.push(what);
}

bool merged_index::add_hole(uint32_t dropping, int64_t start, int64_t length, int64_t time_ns) {
    return add_placed({{start, length, 0, 1, 0, time_ns, time_ns, 0, 0}, dropping, true});
}

bool merged_index::add_cut(uint32_t dropping, int64_t size, int64_t time_ns) {
    is_measured_ = false;
    return cuts_.add({size, time_ns, dropping});
}

bool merged_index::add_reach(uint32_t dropping, int64_t size, int64_t time_ns) {
    if (cuts_.empty() || cuts_.is_after(time_ns, dropping, cuts_.latest())) reach_to(size);
    return reaches_.add({size, time_ns, dropping});
}

bool merged_index::settle() {
    return (fresh_extents_.size() <= most_fresh || settle_extents()) &&
           (fresh_runs_.size() <= most_fresh || settle_runs());
}

bool merged_index::settle_runs() {
    while (run_levels_.must_join(fresh_runs_.size())) {
        if (!fresh_runs_.append(run_levels_.smallest().runs().all())) return false;
        run_levels_.drop_smallest(memory_);
    }
    if (!run_levels_.next().build(fresh_runs_, memory_)) return false;
    run_levels_.keep_next();
    fresh_runs_.release();
    return true;
}

bool merged_index::settle_extents() {
    while (extent_levels_.must_join(fresh_extents_.size())) {
        if (!extent_levels_.smallest().take_out(fresh_extents_)) return false;
        extent_levels_.drop_smallest(memory_);
    }
    int64_t longest = 0;
    if (!move_long_extents(fresh_extents_, longest)) return false;
    if (fresh_extents_.empty()) return true;
    fresh_extents_.shrink();
    if (!extent_levels_.next().build(fresh_extents_, longest, keeps_dead_)) return false;
    extent_levels_.keep_next();
    fresh_extents_.release();
    return true;
}

/// A lookup has to go back as far as the longest extent reaches: the few that are much longer than most go elsewhere.
bool merged_index::move_long_extents(page_array<extent>& from, int64_t& longest) {
    int64_t bytes = 0;
    for (const extent& each : from) bytes += each.length;
    const int64_t most = 4 * (bytes / static_cast<int64_t>(from.size()) + 1);
    size_t kept = 0;
    for (size_t i = 0; i < from.size(); ++i) {
        const extent each = from[i];
        if (each.length > most) {
            if (!add_placed({run_of(each), each.dropping, false})) return false;
            continue;
        }
        longest = std::max(longest, int64_t{each.length});
        from[kept++] = each;
    }
    from.cut(kept);
    return true;
}

bool merged_index::collect(int64_t begin, int64_t end, page_array<piece>& into) {
    for (const size_history::change& cut : cuts_) {
        if (cut.size >= end) break;
        if (!into.push({std::max(cut.size, begin), end, 0, cut.time_ns, cut.time_ns, cut.dropping, true, 0}))
            return false;
    }
    for (const placed_run& each : fresh_runs_) {
        if (each.what.low() < end && each.what.high() > begin && !collect_run(each, begin, end, into)) return false;
    }
    for (const extent& each : fresh_extents_) {
        if (each.start < end && each.end() > begin && !collect_extent(each, begin, end, into)) return false;
    }
    const auto take_run = [&](const placed_run& found) { return collect_run(found, begin, end, into); };
    for (const run_level& level : run_levels_) {
        if (!level.overlapping(begin, end, take_run)) return false;
    }
    const auto take_extent = [&](const extent& found) { return collect_extent(found, begin, end, into); };
    for (extent_level& level : extent_levels_) {
        if (!level.overlapping(begin, end, take_extent)) return false;
    }
    return true;
}

bool merged_index::collect_run(const placed_run& from, int64_t begin, int64_t end, page_array<piece>& into) {
    const run& what = from.what;
    if (!what.is_pattern()) {
        piece whole{what.start,    what.start + what.length,
                    what.physical, what.first_ns,
                    what.last_ns,  from.dropping,
                    from.is_hole,  static_cast<uint8_t>(what.error_exponent)};
        whole.clip(begin, end);
        return into.push(whole);
    }
    if (what.stride == 0) return collect_run({last_element(what), from.dropping, false}, begin, end, into);
    // Places from the lowest element up, also where they were written downwards.
    const int64_t low = what.low();
    const int64_t step = what.stride > 0 ? what.stride : -what.stride;
    const int64_t first = std::max(int64_t{0}, floor_of(begin - (low + what.length), step) + 1);
    const int64_t last = std::min(what.count - 1, floor_of(end - 1 - low, step));
    for (int64_t place = first; place <= last; ++place) {
        const int64_t i = what.stride > 0 ? place : what.count - 1 - place;
        const int64_t start = low + place * step;
        const int64_t time_ns = what.time_of(i);
        piece found{start,         start + what.length, what.physical + i * what.length,          time_ns, time_ns,
                    from.dropping, from.is_hole,        static_cast<uint8_t>(what.error_exponent)};
        if (start < begin || found.end > end) found.clip(begin, end);
        if (!into.push(found)) return false;
    }
    return true;
}

int64_t merged_index::next_start_of(const run& what, int64_t position) {
    if (position <= what.low()) return what.low();
    if (!what.is_pattern() || what.stride == 0) return INT64_MAX;
    const int64_t step = what.stride > 0 ? what.stride : -what.stride;
    const int64_t place = floor_of(position - what.low() - 1, step) + 1;
    return place < what.count ? what.low() + place * step : INT64_MAX;
}

int64_t merged_index::next_start(int64_t position) {
    int64_t next = INT64_MAX;
    for (const placed_run& each : fresh_runs_) next = std::min(next, next_start_of(each.what, position));
    for (const extent& each : fresh_extents_) {
        if (each.start >= position) next = std::min(next, each.start);
    }
    for (const run_level& level : run_levels_) {
        next = std::min(next, level.next_low(position));
        level.overlapping(position, position + 1, [&](const placed_run& each) {
            next = std::min(next, next_start_of(each.what, position));
            return true;
        });
    }
    for (extent_level& level : extent_levels_) next = std::min(next, level.next_start(position));
    return next;
}

int64_t merged_index::end_after_cuts(uint32_t dropping, const run& what) const {
    if (cuts_.empty()) return what.high();
    const size_history::change& cut = cuts_.latest();
    if (!cuts_.is_after(what.last_ns, dropping, cut)) return 0;
    if (!what.is_pattern() || what.stride >= 0 || cuts_.is_after(what.first_ns, dropping, cut)) return what.high();
    // Downwards, and only the last elements count: the first of these reaches furthest.
    int64_t before = 0;
    int64_t after = what.count - 1;
    while (after - before > 1) {
        const int64_t middle = before + (after - before) / 2;
        (cuts_.is_after(what.time_of(middle), dropping, cut) ? after : before) = middle;
    }
    return what.start_of(after) + what.length;
}

int64_t merged_index::size() {
    if (!is_measured_) measure();
    return size_;
}

void merged_index::measure() {
    is_measured_ = true;
    size_ = cuts_.empty() ? 0 : cuts_.latest().size;
    const auto take_runs = [&](const page_array<placed_run>& runs) {
        for (const placed_run& each : runs) {
            if (!each.is_hole) reach_to(end_after_cuts(each.dropping, each.what));
        }
    };
    const auto take_extents = [&](const page_array<extent>& extents) {
        for (const extent& each : extents) {
            if (each.end() > size_) reach_to(end_after_cuts(each.dropping, run_of(each)));
        }
    };
    take_runs(fresh_runs_);
    take_extents(fresh_extents_);
    for (run_level& level : run_levels_) take_runs(level.runs());
    for (extent_level& level : extent_levels_) take_extents(level.extents());
    for (const size_history::change& each : reaches_) {
        if (cuts_.empty() || cuts_.is_after(each.time_ns, each.dropping, cuts_.latest())) reach_to(each.size);
    }
}

size_t merged_index::patterns() const {
    size_t count = fresh_runs_.size();
    for (const run_level& level : run_levels_) count += level.size();
    return count;
}

size_t merged_index::extents() const {
    size_t count = fresh_extents_.size();
    for (const extent_level& level : extent_levels_) count += level.size();
    return count;
}

}  // namespace halcyon::logfs
