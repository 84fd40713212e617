#include "offload/model/boxes.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace halcyon::offload {
namespace {

/// The dimension along which the boxes begin at the most places: sorted by it, a box has the fewest to be compared
/// with.
int most_divided(std::span<const box> boxes) {
    int best = 0;
    size_t most = 0;
    for (int d = 0; d < boxes.front().start.rank; ++d) {
        std::set<int64_t> begins;
        for (const box& b : boxes) begins.insert(b.start[d]);
        if (begins.size() <= most) continue;
        most = begins.size();
        best = d;
    }
    return best;
}

}  // namespace

bool overlap(const box& a, const box& b) {
    for (int d = 0; d < a.start.rank; ++d)
        if (a.start[d] + a.count[d] <= b.start[d] || b.start[d] + b.count[d] <= a.start[d]) return false;
    return true;
}

void subtract(box from, const box& hole, std::vector<box>& left) {
    if (!overlap(from, hole)) {
        left.push_back(from);
        return;
    }
    for (int i = 0; i < from.start.rank; ++i) {
        const int64_t end = from.start[i] + from.count[i];
        const int64_t hole_end = hole.start[i] + hole.count[i];
        if (hole.start[i] > from.start[i]) {
            left.push_back(from);
            left.back().count[i] = hole.start[i] - from.start[i];
        }
        if (hole_end < end) {
            left.push_back(from);
            left.back().start[i] = hole_end;
            left.back().count[i] = end - hole_end;
        }
        const int64_t begin = std::max(from.start[i], hole.start[i]);
        from.count[i] = std::min(end, hole_end) - begin;
        from.start[i] = begin;
    }
}

std::optional<std::pair<size_t, size_t>> find_overlap(std::span<const box> boxes) {
    if (boxes.size() < 2) return std::nullopt;
    if (boxes.front().start.rank == 0) return std::pair<size_t, size_t>(0, 1);
    const int along = most_divided(boxes);
    std::vector<size_t> order(boxes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return boxes[a].start[along] < boxes[b].start[along]; });
    for (size_t i = 0; i < order.size(); ++i) {
        const box& a = boxes[order[i]];
        const int64_t end = a.start[along] + a.count[along];
        for (size_t j = i + 1; j < order.size() && boxes[order[j]].start[along] < end; ++j)
            if (overlap(a, boxes[order[j]])) return std::pair(order[i], order[j]);
    }
    return std::nullopt;
}

}  // namespace halcyon::offload
