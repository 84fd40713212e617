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

bool covers(const box& a, const box& b) {
    for (int d = 0; d < a.start.rank; ++d)
        if (a.start[d] > b.start[d] || a.start[d] + a.count[d] < b.start[d] + b.count[d]) return false;
    return true;
}

struct plane {
    int dimension = 0;
    int64_t at = 0;
};

/// The middle one of the edges inside of `region`, in the dimension that has the most.
plane middle_edge(const box& region, const std::vector<const box*>& boxes) {
    plane best;
    size_t most = 0;
    for (int d = 0; d < region.start.rank; ++d) {
        std::vector<int64_t> edges;
        for (const box* b : boxes)
            for (const int64_t edge : {b->start[d], b->start[d] + b->count[d]})
                if (edge > region.start[d] && edge < region.start[d] + region.count[d]) edges.push_back(edge);
        std::sort(edges.begin(), edges.end());
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
        if (edges.size() <= most) continue;
        most = edges.size();
        best = {d, edges[edges.size() / 2]};
    }
    return best;
}

/// `boxes`: those that overlap `region`. Halves it until each part is in a box or in none.
void add_uncovered(const box& region, const std::vector<const box*>& boxes, uncovered_part& found) {
    if (boxes.empty()) {
        if (found.elements == 0 || region.count.count() > found.large.count.count()) found.large = region;
        found.elements += region.count.count();
        return;
    }
    if (std::any_of(boxes.begin(), boxes.end(), [&](const box* b) { return covers(*b, region); })) return;
    const auto [d, at] = middle_edge(region, boxes);
    box lower = region, upper = region;
    lower.count[d] = at - region.start[d];
    upper.start[d] = at;
    upper.count[d] -= lower.count[d];
    for (const box& half : {lower, upper}) {
        std::vector<const box*> inside;
        for (const box* b : boxes)
            if (overlap(*b, half)) inside.push_back(b);
        add_uncovered(half, inside, found);
    }
}

/// Moves the sides of `hole` outwards, one dimension after the other, to the next box or the end of `whole`.
void grow(box& hole, const box& whole, const std::vector<const box*>& boxes) {
    for (int d = 0; d < hole.start.rank; ++d) {
        int64_t begin = whole.start[d], end = whole.start[d] + whole.count[d];
        box line = hole;
        line.start[d] = begin;
        line.count[d] = end - begin;
        for (const box* b : boxes) {
            if (!overlap(*b, line)) continue;
            const int64_t b_end = b->start[d] + b->count[d];
            if (b_end <= hole.start[d])
                begin = std::max(begin, b_end);
            else
                end = std::min(end, b->start[d]);
        }
        hole.start[d] = begin;
        hole.count[d] = end - begin;
    }
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

uncovered_part find_uncovered(const box& whole, std::span<const box> boxes) {
    uncovered_part found;
    if (whole.count.count() == 0) return found;
    std::vector<const box*> inside;
    for (const box& b : boxes)
        if (b.count.count() > 0 && overlap(b, whole)) inside.push_back(&b);
    add_uncovered(whole, inside, found);
    if (found.elements > 0) grow(found.large, whole, inside);
    return found;
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
