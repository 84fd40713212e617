#include "logfs/container/reading/conflicts.hpp"

#include <algorithm>

namespace halcyon::logfs {

bool conflict_finder::resolve(overlay& over, page_array<conflict>& out) {
    if (!keep_latest_of_each(over) || !over.resolve()) return false;
    std::sort(latest_.begin(), latest_.end(), [](const piece& a, const piece& b) { return a.start < b.start; });
    active_.clear();
    size_t next = 0;
    for (const piece& shown : over.pieces()) {
        size_t kept = 0;
        for (const uint32_t each : active_) {
            if (latest_[each].end > shown.start) active_[kept++] = each;
        }
        active_.cut(kept);
        for (; next < latest_.size() && latest_[next].start < shown.end; ++next) {
            if (latest_[next].end > shown.start && !active_.push(static_cast<uint32_t>(next))) return false;
        }
        if (!find_doubts(shown) || !append_doubts(shown, out)) return false;
    }
    return true;
}

void conflict_finder::release() {
    all_.release();
    latest_.release();
    active_.release();
    doubts_.release();
}

/// Leaves what one writer replaced itself neither in latest_ nor in the overlay.
bool conflict_finder::keep_latest_of_each(overlay& over) {
    page_array<piece>& pieces = over.pieces();
    all_.swap(pieces);
    std::sort(all_.begin(), all_.end(), [](const piece& a, const piece& b) {
        return a.dropping != b.dropping ? a.dropping < b.dropping : a.start < b.start;
    });
    latest_.clear();
    for (size_t first = 0; first < all_.size();) {
        size_t last = first;
        while (last < all_.size() && all_[last].dropping == all_[first].dropping) ++last;
        pieces.clear();
        if (!pieces.append(all_.all().subspan(first, last - first)) || !over.resolve()) return false;
        if (!latest_.append(pieces.all())) return false;
        first = last;
    }
    pieces.clear();
    return pieces.append(latest_.all());
}

bool conflict_finder::find_doubts(const piece& shown) {
    doubts_.clear();
    for (const uint32_t each : active_) {
        const piece& hidden = latest_[each];
        // Two holes read the same.
        if (hidden.dropping == shown.dropping || (hidden.is_hole && shown.is_hole)) continue;
        const doubt found = doubt_between(shown, hidden);
        if (found.begin < found.end && !doubts_.push(found)) return false;
    }
    return true;
}

/// Each byte once, however many writers it was hidden of.
bool conflict_finder::append_doubts(const piece& shown, page_array<conflict>& out) {
    std::sort(doubts_.begin(), doubts_.end(), [](const doubt& a, const doubt& b) { return a.begin < b.begin; });
    int64_t done = shown.start;
    for (const doubt& each : doubts_) {
        const int64_t from = std::max(done, each.begin);
        if (from >= each.end) continue;
        if (!out.push({from, each.end - from, shown.dropping, each.hidden})) return false;
        done = each.end;
    }
    return true;
}

/// Where both lie. Times are on lines, and the one that is shown is the later one: so the doubtful part lies at one
/// end, or is all.
conflict_finder::doubt conflict_finder::doubt_between(const piece& shown, const piece& hidden) const {
    const int64_t begin = std::max(shown.start, hidden.start);
    const int64_t end = std::min(shown.end, hidden.end);
    const bool is_first = is_in_doubt(shown, hidden, begin);
    const bool is_last = is_in_doubt(shown, hidden, end - 1);
    if (is_first == is_last) return {begin, is_first ? end : begin, hidden.dropping};
    int64_t doubtful = is_first ? begin : end - 1;
    int64_t certain = is_first ? end - 1 : begin;
    while (doubtful - certain > 1 || certain - doubtful > 1) {
        const int64_t middle = certain + (doubtful - certain) / 2;
        (is_in_doubt(shown, hidden, middle) ? doubtful : certain) = middle;
    }
    return {is_first ? begin : doubtful, is_first ? certain : end, hidden.dropping};
}

bool conflict_finder::is_in_doubt(const piece& a, const piece& b, int64_t position) const {
    const int64_t time_a = a.time_at(position);
    const int64_t time_b = b.time_at(position);
    const int64_t apart = time_a > time_b ? time_a - time_b : time_b - time_a;
    const int64_t error = std::min(a.error_ns(), longest_doubt_ns) + std::min(b.error_ns(), longest_doubt_ns);
    const int64_t doubt_ns = writers_.clock_doubt_ns(a.dropping, b.dropping) + error;
    return apart <= doubt_ns && !writers_.has_epoch_between(a.dropping, time_a, b.dropping, time_b);
}

}  // namespace halcyon::logfs
