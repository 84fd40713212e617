#include "logfs/container/reading/extent_level.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "base/crc32c.hpp"

namespace halcyon::logfs {
namespace {

struct saved_level {
    int64_t low;
    int64_t longest;
    uint32_t shift;
    uint32_t buckets;
};
static_assert(has_copied_layout<saved_level, 24, 8>());

struct saved_bucket {
    uint32_t count;
    uint32_t check;
};
static_assert(has_copied_layout<saved_bucket, 8, 4>());

/// Each extent is moved once, to the next free place of its group, and what was there is moved on (McIlroy, Bostic,
/// McIlroy, Engineering radix sort, 1993). The place behind it is on its way to the processor until that group comes
/// again.
template <class Group, class NumberOf>
void move_into_groups(extent* all, std::span<Group> groups, NumberOf number_of) {
    constexpr size_t ahead = 4;
    for (Group& here : groups) {
        while (here.filled < here.end) {
            extent moved = all[here.filled];
            for (;;) {
                Group& home = groups[number_of(moved)];
                if (&home == &here) break;
                std::swap(moved, all[home.filled]);
                __builtin_prefetch(all + ++home.filled + ahead, 1);
            }
            all[here.filled++] = moved;
        }
    }
}

}  // namespace

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
    if (!is_sound()) return false;
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
    std::array<int64_t, 256> sample{};  // stacks may be small
    const size_t count = std::min(sample.size(), extents_.size());
    for (size_t i = 0; i < count; ++i) sample[i] = extents_[i * (extents_.size() / count)].start;
    std::sort(sample.begin(), sample.begin() + count);
    low_ = sample[count / 100];
    const auto width = static_cast<uint64_t>(sample[count - 1 - count / 100] - low_);
    shift_ = 0;
    while ((width >> shift_) >= wanted) ++shift_;
}

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
    move_into_groups(extents_.data(), buckets_.all(), [this](const extent& each) { return bucket_of(each.start); });
}

bool extent_level::make_ready(size_t number) {
    bucket& here = buckets_[number];
    if (here.is_ready) return true;
    if (!is_mapped_) {
        sort(number);
    } else if (!is_as_saved(number)) {
        is_damaged_ = true;
        return false;
    }
    here.is_ready = true;
    return true;
}

/// What its own writer has replaced as a whole is never read again.
void extent_level::sort(size_t number) {
    bucket& here = buckets_[number];
    extent* const begin = extents_.data() + here.begin;
    extent* const end = extents_.data() + here.end;
    sorter_.sort({begin, end});
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
        if (!make_ready(i)) break;
        const size_t found = first_from(buckets_[i], position);
        if (found < buckets_[i].end) return extents_[found].start;
    }
    return INT64_MAX;
}

void extent_level::save(image_writer& to) {
    to.put(saved_level{low_, longest_, shift_, static_cast<uint32_t>(buckets_.size())});
    to.begin_pages();
    for (size_t i = 0; i < buckets_.size() && !to.has_failed(); ++i) {
        if (!make_ready(i)) return to.fail(-EIO);
        const bucket& here = buckets_[i];
        const auto bytes = std::as_bytes(extents_.all().subspan(here.begin, here.end - here.begin));
        if (here.end - here.begin > UINT32_MAX) return to.fail(-EFBIG);
        to.put(saved_bucket{static_cast<uint32_t>(here.end - here.begin), crc32c(bytes)});
        to.write_pages(bytes);
    }
    sorter_.release();
}

bool extent_level::load(image_reader& from, uint32_t droppings) {
    saved_level head{};
    if (!from.take(head) || head.low < 0 || head.longest <= 0 || head.longest > extent::longest) return false;
    if (head.shift > 63 || head.buckets == 0 || head.buckets > most_buckets || !buckets_.resize(head.buckets))
        return false;
    size_t begin = 0;
    for (bucket& each : buckets_) {
        saved_bucket saved{};
        if (!from.take(saved)) return false;
        each = {begin, begin + saved.count, 0, saved.check, false};
        begin = each.end;
    }
    low_ = head.low;
    shift_ = head.shift;
    longest_ = head.longest;
    droppings_ = droppings;
    is_mapped_ = true;
    return from.map(extents_, begin);
}

bool extent_level::is_sound() {
    for (size_t i = 0; is_mapped_ && i < buckets_.size(); ++i) {
        if (!make_ready(i)) return false;
    }
    return true;
}

bool extent_level::is_as_saved(size_t number) const {
    const bucket& here = buckets_[number];
    const auto all = extents_.all().subspan(here.begin, here.end - here.begin);
    if (crc32c(std::as_bytes(all)) != here.check) return false;
    int64_t before = 0;
    for (const extent& each : all) {
        if (!logfs::is_sound(each, longest_, droppings_) || each.start < before || bucket_of(each.start) != number)
            return false;
        before = each.start;
    }
    return true;
}

}  // namespace halcyon::logfs
