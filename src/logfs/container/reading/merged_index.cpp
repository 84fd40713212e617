#include "logfs/container/reading/merged_index.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "logfs/container/format/record_coding.hpp"

namespace halcyon::logfs {
namespace {

struct saved_index {
    int64_t latest_ns;
    int64_t size;
    uint64_t fresh_extents;
    uint32_t run_levels;
    uint32_t extent_levels;
};
static_assert(has_copied_layout<saved_index, 32, 8>());

struct saved_run {
    run what;
    uint32_t dropping;
    uint32_t is_hole;
};
static_assert(has_copied_layout<saved_run, 72, 8>());

void save_runs(image_writer& to, const page_array<placed_run>& runs) {
    to.put(uint64_t{runs.size()});
    for (const placed_run& each : runs) to.put(saved_run{each.what, each.dropping, each.is_hole ? 1U : 0U});
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

run element_of(const run& what, int64_t i) {
    const int64_t time_ns = what.time_of(i);
    return {what.start_of(i), what.length,         0, 1, what.physical + i * what.length, time_ns,
            time_ns,          what.error_exponent, 0};
}

}  // namespace

merged_index::merged_index(memory_source& memory, const dropping_table& writers)
    : memory_(memory),
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
    if (!place(dropping, what)) return false;
    latest_ns_ = std::max(latest_ns_, what.last_ns);
    reach_to(end_after_cuts(dropping, what));
    return true;
}

bool merged_index::place(uint32_t dropping, const run& what) {
    if (!what.is_pattern()) return add_single(dropping, what);
    if (what.stride == what.length) return add_single(dropping, as_extent(what));
    if (what.stride == 0) return add_single(dropping, last_element_of(what));
    if (what.count >= least_elements) return add_placed({what, dropping, false});
    for (int64_t i = 0; i < what.count; ++i) {
        if (!add_single(dropping, element_of(what, i))) return false;
    }
    return true;
}

/// In little room where the time is one moment, or nearly.
bool merged_index::add_single(uint32_t dropping, const run& what) {
    constexpr int64_t doubt_ns = int64_t{1} << extent::error_exponent;
    const bool is_a_moment = what.error_ns() <= doubt_ns && what.span_ns() <= doubt_ns - what.error_ns();
    if (what.length > extent::longest || !is_a_moment) return add_placed({what, dropping, false});
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

/// Mostly nothing that is here is later, and there is nothing to measure.
bool merged_index::add_cut(uint32_t dropping, int64_t size, int64_t time_ns) {
    if (cuts_.empty() || cuts_.is_after(time_ns, dropping, cuts_.latest())) {
        is_measured_ = time_ns > latest_ns_;
        if (is_measured_) size_ = size;
    }
    return cuts_.add({size, time_ns, dropping});
}

bool merged_index::add_reach(uint32_t dropping, int64_t size, int64_t time_ns) {
    latest_ns_ = std::max(latest_ns_, time_ns);
    if (cuts_.empty() || cuts_.is_after(time_ns, dropping, cuts_.latest())) reach_to(size);
    return reaches_.add({size, time_ns, dropping});
}

bool merged_index::settle() {
    cuts_.settle();
    reaches_.settle();
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
    if (!extent_levels_.next().build(fresh_extents_, longest)) return false;
    extent_levels_.keep_next();
    fresh_extents_.release();
    return true;
}

/// A lookup has to go back as far as the longest extent reaches: the few that are much longer than most go elsewhere.
bool merged_index::move_long_extents(page_array<extent>& from, int64_t& longest) {
    int64_t bytes = 0;
    for (const extent& each : from) {
        bytes += each.length;
        longest = std::max(longest, int64_t{each.length});
    }
    const int64_t most = 4 * (bytes / static_cast<int64_t>(from.size()) + 1);
    if (longest <= most) return true;
    longest = 0;
    const auto is_long = [&](const extent& each) { return each.length > most; };
    const auto moved = static_cast<size_t>(std::count_if(from.begin(), from.end(), is_long));
    if (!fresh_runs_.reserve(fresh_runs_.size() + moved)) return false;
    size_t kept = 0;
    for (size_t i = 0; i < from.size(); ++i) {
        const extent each = from[i];
        if (is_long(each)) {
            if (!add_placed({run_of(each), each.dropping, false})) return false;
            continue;
        }
        longest = std::max(longest, int64_t{each.length});
        from[kept++] = each;
    }
    from.cut(kept);
    return true;
}

bool merged_index::collect(piece_collector& into) {
    if (!collect_cuts(into)) return false;
    const auto take_run = [&](const placed_run& found) { return into.add(found.what, found.dropping, found.is_hole); };
    const auto take_extent = [&](const extent& found) { return into.add(found); };
    for (const placed_run& each : fresh_runs_) {
        if (into.overlaps(each.what.low(), each.what.high()) && !take_run(each)) return false;
    }
    for (const extent& each : fresh_extents_) {
        if (into.overlaps(each.start, each.end()) && !take_extent(each)) return false;
    }
    for (const run_level& level : run_levels_) {
        if (!level.overlapping(into.begin(), into.end(), take_run)) return false;
    }
    for (extent_level& level : extent_levels_) {
        if (!level.overlapping(into.begin(), into.end(), take_extent)) return false;
    }
    return true;
}

/// Each makes a hole of all that is behind it. Of those that cover the whole range the latest one covers the others,
/// and it is the one to most.
bool merged_index::collect_cuts(piece_collector& into) {
    cuts_.settle();
    const size_history::change* cut = std::partition_point(
        cuts_.begin(), cuts_.end(), [&](const size_history::change& each) { return each.size <= into.begin(); });
    if (cut != cuts_.begin()) --cut;
    for (; cut != cuts_.end() && cut->size < into.end(); ++cut) {
        piece behind;
        behind.start = cut->size;
        behind.end = into.end();
        behind.time_ns = cut->time_ns;
        behind.dropping = cut->dropping;
        behind.is_hole = true;
        if (!into.add(behind)) return false;
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
    cuts_.settle();
    reaches_.settle();
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
    for (extent_level& level : extent_levels_) {
        if (level.is_sound()) take_extents(level.extents());
    }
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

void merged_index::save(image_writer& to) {
    to.put(saved_index{latest_ns_, size(), fresh_extents_.size(), static_cast<uint32_t>(run_levels_.size()),
                       static_cast<uint32_t>(extent_levels_.size())});
    to.put_all(std::span<const extent>(fresh_extents_.all()));
    save_runs(to, fresh_runs_);
    for (run_level& level : run_levels_) save_runs(to, level.runs());
    for (extent_level& level : extent_levels_) level.save(to);
    cuts_.save(to);
    reaches_.save(to);
}

bool merged_index::load(image_reader& from, uint32_t droppings) {
    saved_index head{};
    if (!from.take(head) || head.latest_ns < 0 || head.size < 0 || head.run_levels > run_levels_.most ||
        head.extent_levels > extent_levels_.most)
        return false;
    latest_ns_ = head.latest_ns;
    size_ = head.size;
    if (!from.take_all(fresh_extents_, head.fresh_extents)) return false;
    for (const extent& each : fresh_extents_) {
        if (!is_sound(each, extent::longest, droppings)) return false;
    }
    if (!load_runs(from, droppings, fresh_runs_)) return false;
    for (uint32_t i = 0; i < head.run_levels; ++i) {
        page_array<placed_run> runs(memory_);
        if (!load_runs(from, droppings, runs) || runs.empty() || !run_levels_.next().build(runs, memory_)) return false;
        run_levels_.keep_next();
    }
    for (uint32_t i = 0; i < head.extent_levels; ++i) {
        if (!extent_levels_.next().load(from, droppings)) return false;
        extent_levels_.keep_next();
    }
    return cuts_.load(from, droppings) && reaches_.load(from, droppings);
}

bool merged_index::load_runs(image_reader& from, uint32_t droppings, page_array<placed_run>& into) {
    uint64_t count = 0;
    if (!from.take(count)) return false;
    for (uint64_t i = 0; i < count; ++i) {
        saved_run each{};
        if (!from.take(each) || each.is_hole > 1 || each.dropping >= droppings || !is_sound(each.what)) return false;
        if (!into.push({each.what, each.dropping, each.is_hole != 0})) return false;
    }
    return true;
}

bool merged_index::is_damaged() const {
    return std::any_of(extent_levels_.begin(), extent_levels_.end(),
                       [](const extent_level& each) { return each.is_damaged(); });
}

void merged_index::release() {
    fresh_runs_.release();
    fresh_extents_.release();
    run_levels_.release(memory_);
    extent_levels_.release(memory_);
    cuts_.release();
    reaches_.release();
    latest_ns_ = size_ = 0;
    is_measured_ = true;
}

}  // namespace halcyon::logfs
