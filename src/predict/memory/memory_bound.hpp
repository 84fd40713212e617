#pragma once

#include <cstddef>

namespace halcyon::predict {

/// How many bytes the parts of something may take together, and where they take them: from pages of the system, never
/// from malloc, in the middle of which an application may be when it makes a call. One bound may lie within another:
/// its bytes come from there, and count there, too.
///
/// Blocks have sizes of four steps for each doubling, so that at most a fifth is wasted, and what was given back is
/// used again; those of more than 32 KiB are whole pages, which go back to the system. What counts is the size of the
/// block. One thread.
class memory_bound {
  public:
    explicit memory_bound(size_t bytes) : limit_(bytes) {}
    memory_bound(size_t bytes, memory_bound& within) : limit_(bytes), outer_(&within) {}
    /// All blocks must have been given back.
    ~memory_bound();
    memory_bound(const memory_bound&) = delete;
    memory_bound& operator=(const memory_bound&) = delete;

    /// Null when it would be too much, or the system has none. Aligned for any type.
    [[nodiscard]] void* take(size_t bytes);
    /// `bytes`: as many as it was taken with.
    void give_back(void* block, size_t bytes);
    /// The block, perhaps elsewhere, with its contents; null when there is no room: then it is as it was.
    [[nodiscard]] void* resize(void* block, size_t bytes, size_t wanted);

    [[nodiscard]] size_t limit() const { return limit_; }
    [[nodiscard]] size_t used() const { return used_; }
    [[nodiscard]] size_t peak() const { return peak_; }

  private:
    struct free_block {
        free_block* next;
    };
    struct slab {
        slab* next;
        size_t bytes;
    };
    static constexpr size_t smallest = 32;
    static constexpr size_t largest = size_t{32} << 10;  // of those that are cut from slabs
    static constexpr size_t classes = 41;                // 32, 40, 48, 56, 64, 80, … 32,768

    [[nodiscard]] bool count(size_t bytes);
    void uncount(size_t bytes);
    [[nodiscard]] memory_bound& outermost() { return outer_ == nullptr ? *this : outer_->outermost(); }
    [[nodiscard]] void* cut(size_t bytes);

    size_t limit_;
    size_t used_ = 0;
    size_t peak_ = 0;
    memory_bound* outer_ = nullptr;
    // Of the outermost one.
    free_block* free_[classes] = {};
    slab* slabs_ = nullptr;
    char* rest_ = nullptr;
    size_t rest_bytes_ = 0;
};

}  // namespace halcyon::predict
