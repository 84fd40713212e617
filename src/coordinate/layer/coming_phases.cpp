#include "coordinate/layer/coming_phases.hpp"

#include <algorithm>
#include <cstdlib>

namespace halcyon::coordinate {

void coming_phases::part::add(const coming_io::access& one) {
    if (!any) begins_ns = one.begins_ns;
    any = true;
    bytes += one.bytes;
    ends_ns = std::max(ends_ns, one.begins_ns + one.duration_ns);
}

bool coming_phases::is_at(const coming_io::access& one, size_t file_system, bool unknown_files) const {
    if (!one.moves) return false;
    return one.file == 0 ? unknown_files : files_.moves_at(one.file, file_system);
}

/// The phase under way, and the next one.
coming_phases::course coming_phases::course_at(size_t file_system, bool begins, bool unknown_files) const {
    course found;
    size_t phase = 0;
    int64_t quiet_since = 0;
    for (size_t i = 0; i < coming_.count; ++i) {
        const coming_io::access& one = coming_.accesses[i];
        if (!is_at(one, file_system, unknown_files)) continue;
        const bool pauses = one.begins_ns - quiet_since > pause_ns_ && !(begins && !found.phases[0].any);
        if (pauses && phase < 2) found.complete[phase++] = true;
        if (phase < 2) found.phases[phase].add(one);
        quiet_since = std::max(quiet_since, one.begins_ns + one.duration_ns);
    }
    return found;
}

coming_phases::said coming_phases::at(size_t file_system, bool begins, bool unknown_files) const {
    const course found = course_at(file_system, begins, unknown_files);
    const part &now = found.phases[0], &next = found.phases[1];
    const io_forecast::answer& whole = coming_.whole;
    said all{.complete = found.complete[0], .next_complete = found.complete[1]};
    all.endless = coming_.cut_off && !found.complete[0];
    all.confidence = whole.next_phase_confidence;
    phase_forecast& what = all.what;
    // Whatever is expected later comes earlier by as much as the phase does.
    const int64_t early = begins && now.any ? now.begins_ns : 0;
    const int64_t now_ns = now.any ? now.ends_ns - early : 0, next_ns = next.any ? next.ends_ns - next.begins_ns : 0;
    what.bytes_left = now.bytes;
    what.left_ns = now_ns;
    if (now.bytes + next.bytes > 0)
        all.ns_per_byte = static_cast<double>(now_ns + next_ns) / static_cast<double>(now.bytes + next.bytes);
    what.next_deviation_ns = std::max<int64_t>(whole.next_phase_deviation_ns, 0);
    if (!next.any) return all;
    what.next_in_ns = next.begins_ns - early;
    what.next_bytes = next.bytes;
    what.next_alone_ns = next_ns;
    what.next_probability = all.confidence;
    // The same phase, by more than the walk.
    const bool is_same = std::abs(whole.next_phase_ns - what.next_in_ns) <= what.next_in_ns / 4;
    if (!begins && whole.next_phase_ns != io_forecast::not_known && is_same) what.next_in_ns = whole.next_phase_ns;
    return all;
}

}  // namespace halcyon::coordinate
