#include "logfs/container/reading/extent_level.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace halcyon::logfs {

bool extent_level::build(page_array<extent>& extents, int64_t longest) {
    const size_t wanted = std::clamp<size_t>(extents.size() / bucket_size, 1, most_buckets);
    if (!buckets_.resize(wanted)) return false;
    for (bucket& each : buckets_) each = {};
    extents_.swap(extents);
    extents.clear();
    longest_ = longest;
    choose_width(wanted);
    distribute();
    return true;
}

bool extent_level::take_out(page_array<extent>& into) {
    if (!into.reserve(into.size() + extents_.size())) return false;
    for (const bucket& each : buckets_) {
        if (!into.append({extents_.data() + each.begin, each.end - each.begin})) return false;
    }
    extents_.release();
    buckets_.release();
    return true;
}

/// From a sample, so that a few extents far away from all others do not leave all others in one bucket.
void extent_level::choose_width(size_t wanted) {
    std::array<int64_t, 1024> sample{};
    const size_t count = std::min(sample.size(), extents_.size());
    for (size_t i = 0; i < count; ++i) sample[i] = extents_[i * (extents_.size() / count)].start;
    std::sort(sample.begin(), sample.begin() + count);
    low_ = sample[count / 100];
    const auto width = static_cast<uint64_t>(sample[count - 1 - count / 100] - low_);
    shift_ = 0;
    while ((width >> shift_) >= wanted) ++shift_;
}

/// Each extent is moved once, to the next free place of its bucket, and what was there is moved on (McIlroy, Bostic,
/// McIlroy, Engineering radix sort, 1993).
void extent_level::distribute() {
    if (buckets_.size() > 1) {
        for (const extent& each : extents_) ++buckets_[bucket_of(each.start)].end;
    } else {
        buckets_[0].end = extents_.size();
    }
    size_t begin = 0;
    for (bucket& each : buckets_) {
        const size_t count = each.end;
        each.begin = each.filled = begin;
        each.end = begin += count;
    }
    if (buckets_.size() == 1) return;
    for (size_t number = 0; number < buckets_.size(); ++number) {
        bucket& here = buckets_[number];
        while (here.filled < here.end) {
            extent moved = extents_[here.filled];
            for (;;) {
                bucket& home = buckets_[bucket_of(moved.start)];
                if (&home == &here) break;
                std::swap(moved, extents_[home.filled++]);
            }
            extents_[here.filled++] = moved;
        }
    }
}

/// What its own writer has replaced as a whole is never read again.
void extent_level::sort(size_t number) {
    bucket& here = buckets_[number];
    if (here.is_sorted) return;
    here.is_sorted = true;
    extent* const begin = extents_.data() + here.begin;
    extent* const end = extents_.data() + here.end;
    std::sort(begin, end, [](const extent& a, const extent& b) {
        if (a.start != b.start) return a.start < b.start;
        return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.physical < b.physical;
    });
    extent* kept = begin;
    for (const extent* each = begin; each != end; ++each) {
        const bool replaces = kept != begin && kept[-1].start == each->start && kept[-1].length <= each->length &&
                              kept[-1].dropping == each->dropping;
        if (replaces) --kept;
        *kept++ = *each;
    }
    here.end = static_cast<size_t>(kept - extents_.data());
}

size_t extent_level::first_from(const bucket& in, int64_t start) const {
    const extent* const begin = extents_.data() + in.begin;
    const extent* const end = extents_.data() + in.end;
    return static_cast<size_t>(
        std::partition_point(begin, end, [&](const extent& each) { return each.start < start; }) - extents_.data());
}

int64_t extent_level::next_start(int64_t position) {
    if (extents_.empty()) return INT64_MAX;
    for (size_t i = bucket_of(position); i < buckets_.size(); ++i) {
        sort(i);
        const size_t found = first_from(buckets_[i], position);
        if (found < buckets_[i].end) return extents_[found].start;
    }
    return INT64_MAX;
}

}  // namespace halcyon::logfs
