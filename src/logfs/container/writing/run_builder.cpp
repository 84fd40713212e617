#include "logfs/container/writing/run_builder.hpp"

namespace halcyon::logfs {
namespace {

void set_error(run& of, uint32_t exponent) {
    if (of.error_exponent != exponent) of.error_exponent = exponent;
}

}  // namespace

bool run_builder::add(int64_t start, int64_t length, int64_t physical, int64_t now_ns, run& complete) {
    if (extend_element(start, length, physical, now_ns)) return false;
    const bool has_complete = element().count > 0 && close_element(complete);
    element() = {start, length, 0, 1, physical, now_ns, now_ns, 0, 0};
    element_has_line_ = false;
    element_written_ns_ = now_ns;
    return has_complete;
}

/// The time of a byte in the middle is taken from the line between the times of the first and the last write, so no
/// pause between two writes may be longer than the tolerance.
bool run_builder::extend_element(int64_t start, int64_t length, int64_t physical, int64_t now_ns) {
    run& of = element();
    if (of.count == 0 || start != of.start + of.length || physical != of.physical_end()) return false;
    const int64_t gap_ns = now_ns - element_written_ns_;
    if (!element_has_line_) element_line_.begin(of.first_ns, time_line::tolerance_for(gap_ns));
    if (gap_ns > element_line_.tolerance_ns()) return false;
    const auto before = static_cast<double>(of.length);
    const auto after = static_cast<double>(of.length + length);
    if (!element_line_.lead_to(before, after, now_ns)) return false;
    element_has_line_ = true;
    element_written_ns_ = now_ns;
    of.length += length;
    of.last_ns = element_line_.end_at(after, now_ns);
    set_error(of, element_line_.exponent());
    return true;
}

/// The element becomes part of the pattern, or the beginning of the next one: then the one before is complete.
bool run_builder::close_element(run& complete) {
    if (has_pattern_ && join_pattern()) return false;
    const bool has_complete = has_pattern_;
    if (has_complete) {
        complete = open_[0];
        open_[0] = open_[1];
    }
    has_pattern_ = true;
    pattern_written_ns_ = element_written_ns_;
    pattern_took_ns_ = element_written_ns_ - pattern().first_ns;
    return has_complete;
}

bool run_builder::join_pattern() {
    run& to = pattern();
    const run& joins = element();
    if (joins.length != to.length || joins.physical != to.physical_end()) return false;
    const int64_t took_ns = element_written_ns_ - joins.first_ns;
    if (to.count == 1) {
        const int64_t stride = joins.start - to.start;
        if (stride != 0 && stride < to.length && stride > -to.length) return false;
        time_line line;
        line.begin(pattern_written_ns_, time_line::tolerance_for(element_written_ns_ - pattern_written_ns_));
        if (took_ns > line.tolerance_ns() || pattern_took_ns_ > line.tolerance_ns()) return false;
        if (!line.lead_to(1, 1, element_written_ns_)) return false;
        pattern_line_ = line;
        to.stride = stride;
        to.first_ns = pattern_written_ns_;
    } else {
        int64_t next = 0;
        if (__builtin_mul_overflow(to.stride, to.count, &next) || __builtin_add_overflow(to.start, next, &next) ||
            joins.start != next)
            return false;
        if (took_ns > pattern_line_.tolerance_ns()) return false;
        const auto place = static_cast<double>(to.count);
        if (!pattern_line_.lead_to(place, place, element_written_ns_)) return false;
    }
    if (took_ns > pattern_took_ns_) pattern_took_ns_ = took_ns;
    ++to.count;
    to.last_ns = pattern_line_.end_at(static_cast<double>(to.count - 1), element_written_ns_);
    // Two elements of one write each are where the ends of the line are.
    set_error(to, to.count == 2 && pattern_took_ns_ == 0 ? 0 : pattern_line_.exponent());
    return true;
}

size_t run_builder::finish(run (&complete)[2]) {
    size_t found = 0;
    if (element().count > 0 && close_element(complete[0])) ++found;
    if (has_pattern_) complete[found++] = pattern();
    open_[0] = open_[1] = {};
    has_pattern_ = false;
    return found;
}

}  // namespace halcyon::logfs
