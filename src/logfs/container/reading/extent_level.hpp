#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/extent_sorter.hpp"
#include "logfs/container/reading/index_image.hpp"
#include "logfs/container/reading/piece.hpp"

namespace halcyon::logfs {

/// Many extents, found by where they are. They are put into buckets of the file by one pass over them and in place; a
/// bucket is sorted when something in it is looked for.
///
/// Those of an image are used where they are mapped, sorted as they were saved. A bucket is compared with its check
/// sum, and all that is in it looked at, before any of it is used. Where it is not as it was saved, is_damaged() says
/// so, and what the level returns means nothing.
class extent_level {
  public:
    explicit extent_level(memory_source& memory) : extents_(memory), buckets_(memory), sorter_(memory) {}

    /// Takes the extents, of which none is longer than `longest`. False: no memory; then they are still there.
    [[nodiscard]] bool build(page_array<extent>& extents, int64_t longest);
    /// Gives them back, in any order; those that are dead may be missing. False: no memory.
    [[nodiscard]] bool take_out(page_array<extent>& into);

    /// All of it, each bucket sorted.
    void save(image_writer& to);
    /// Of writers with numbers below `droppings`. False: it makes no sense, or there is no memory.
    [[nodiscard]] bool load(image_reader& from, uint32_t droppings);
    [[nodiscard]] bool is_damaged() const { return is_damaged_; }
    /// All of an image is as it was saved. Of a level that is none, it is.
    [[nodiscard]] bool is_sound();

    [[nodiscard]] size_t size() const { return extents_.size(); }
    [[nodiscard]] bool empty() const { return extents_.empty(); }
    [[nodiscard]] int64_t longest() const { return longest_; }
    [[nodiscard]] page_array<extent>& extents() { return extents_; }

    /// Visits what overlaps [begin, end), by start.
    template <class Visit>
    bool overlapping(int64_t begin, int64_t end, Visit visit) {
        if (extents_.empty()) return true;
        const int64_t from = begin - longest_;
        for (size_t i = bucket_of(from); i <= bucket_of(end - 1); ++i) {
            if (!make_ready(i)) return false;
            const bucket& here = buckets_[i];
            for (size_t at = first_from(here, from); at < here.end && extents_[at].start < end; ++at) {
                if (extents_[at].end() > begin && !visit(extents_[at])) return false;
            }
        }
        return true;
    }

    /// The smallest start that is not before `position`; INT64_MAX: none.
    int64_t next_start(int64_t position);

  private:
    static constexpr size_t bucket_size = 2048;
    static constexpr size_t most_buckets = 1024;

    struct bucket {
        size_t begin = 0;
        size_t end = 0;
        size_t filled = 0;   // while they are put there
        uint32_t check = 0;  // of an image
        bool is_ready = false;
    };

    [[nodiscard]] size_t bucket_of(int64_t start) const {
        if (start < low_) return 0;
        const auto place = static_cast<size_t>(static_cast<uint64_t>(start - low_) >> shift_);
        return place < buckets_.size() ? place : buckets_.size() - 1;
    }
    void choose_width(size_t wanted);
    void distribute();
    /// False: it is damaged.
    [[nodiscard]] bool make_ready(size_t number);
    void sort(size_t number);
    [[nodiscard]] bool is_as_saved(size_t number) const;
    [[nodiscard]] size_t first_from(const bucket& in, int64_t start) const;

    page_array<extent> extents_;
    page_array<bucket> buckets_;
    extent_sorter sorter_;
    int64_t low_ = 0;
    unsigned shift_ = 0;
    int64_t longest_ = 0;
    uint32_t droppings_ = 0;  // of an image
    bool is_mapped_ = false;
    bool is_damaged_ = false;
};

/// An extent that makes sense, no longer than that, of a writer with a number below `droppings`.
[[nodiscard]] inline bool is_sound(const extent& what, int64_t longest, uint32_t droppings) {
    return what.start >= 0 && what.time_ns >= 0 && what.physical >= 0 && what.length > 0 && what.length <= longest &&
           what.start <= INT64_MAX - what.length && what.physical <= INT64_MAX - what.length &&
           what.dropping < droppings;
}

}  // namespace halcyon::logfs
