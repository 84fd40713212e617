#include "logfs/container/reading/piece_collector.hpp"

#include <algorithm>

namespace halcyon::logfs {

run last_element_of(const run& what) {
    run last = what;
    last.physical += what.length * (what.count - 1);
    last.count = 1;
    last.stride = 0;
    last.first_ns = last.last_ns;
    return last;
}

bool piece_collector::add(const extent& from) {
    piece found;
    found.start = from.start;
    found.end = from.end();
    found.physical = from.physical;
    found.time_ns = from.time_ns;
    found.dropping = from.dropping;
    if (from.is_exact == 0) found.error_exponent = extent::error_exponent;
    return add(found);
}

bool piece_collector::add(const run& what, uint32_t dropping, bool is_hole) {
    if (what.is_pattern() && what.stride != 0) return add_elements(what, dropping);
    const bool is_moment = what.is_pattern() || what.span_ns() == 0;
    const run whole = what.is_pattern() ? last_element_of(what) : what;
    piece found;
    found.start = whole.start;
    found.end = whole.start + whole.length;
    found.physical = whole.physical;
    found.time_ns = whole.last_ns;
    if (!is_moment) found.line = &what;
    found.dropping = dropping;
    found.is_hole = is_hole;
    found.error_exponent = static_cast<uint8_t>(whole.error_exponent);
    return add(found);
}

bool piece_collector::add_elements(const run& what, uint32_t dropping) {
    // Places from the lowest element up, also where they were written downwards.
    const int64_t low = what.low();
    const int64_t step = what.stride > 0 ? what.stride : -what.stride;
    const int64_t first = std::max(int64_t{0}, floor_of(begin_ - (low + what.length), step) + 1);
    const int64_t last = std::min(what.count - 1, floor_of(end_ - 1 - low, step));
    if (first <= last && static_cast<uint64_t>(last - first) >= most_ - into_.size()) return false;
    piece found;
    found.dropping = dropping;
    found.error_exponent = static_cast<uint8_t>(what.error_exponent);
    for (int64_t place = first; place <= last; ++place) {
        const int64_t i = what.stride > 0 ? place : what.count - 1 - place;
        found.start = low + place * step;
        found.end = found.start + what.length;
        found.physical = what.physical + i * what.length;
        found.time_ns = what.time_of(i);
        if (!add(found)) return false;
    }
    return true;
}

}  // namespace halcyon::logfs
