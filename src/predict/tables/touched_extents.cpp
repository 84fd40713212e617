#include "predict/tables/touched_extents.hpp"

#include <algorithm>

namespace halcyon::predict {

void touched_extents::add(int64_t begin, int64_t end) {
    if (end <= begin) return;
    // Most accesses go on behind the last extent.
    if (count_ > 0 && begin == extents_[count_ - 1].end) {
        extents_[count_ - 1].end = end;
        return;
    }
    uint32_t first = 0;  // the first extent that the new one touches, or that lies behind it
    while (first < count_ && extents_[first].end < begin) ++first;
    uint32_t behind = first;
    while (behind < count_ && extents_[behind].begin <= end) {
        begin = std::min(begin, extents_[behind].begin);
        end = std::max(end, extents_[behind].end);
        ++behind;
    }
    if (behind > first) {
        extents_[first] = {begin, end};
        std::copy(extents_.begin() + behind, extents_.begin() + count_, extents_.begin() + first + 1);
        count_ -= behind - first - 1;
        return;
    }
    if (count_ == most) {
        close_smallest_hole();
        return add(begin, end);
    }
    std::copy_backward(extents_.begin() + first, extents_.begin() + count_, extents_.begin() + count_ + 1);
    extents_[first] = {begin, end};
    ++count_;
}

void touched_extents::close_smallest_hole() {
    uint32_t smallest = 0;
    const auto hole = [&](uint32_t i) { return extents_[i + 1].begin - extents_[i].end; };
    for (uint32_t i = 1; i + 1 < count_; ++i) {
        if (hole(i) < hole(smallest)) smallest = i;
    }
    extents_[smallest].end = extents_[smallest + 1].end;
    std::copy(extents_.begin() + smallest + 2, extents_.begin() + count_, extents_.begin() + smallest + 1);
    --count_;
}

int64_t touched_extents::next_hole(int64_t at) const {
    for (uint32_t i = count_; i-- > 0 && extents_[i].end >= at;) {
        if (extents_[i].begin <= at) return extents_[i].end;
    }
    return at;
}

}  // namespace halcyon::predict
