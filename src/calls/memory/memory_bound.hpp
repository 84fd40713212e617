#pragma once

#include <cstddef>

namespace halcyon::calls {

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
    struct heap;  // of the outermost one, in its first slab
    [[nodiscard]] bool count(size_t bytes);
    void uncount(size_t bytes);
    [[nodiscard]] heap* outermost_heap();

    size_t limit_;
    size_t used_ = 0;
    size_t peak_ = 0;
    memory_bound* outer_ = nullptr;
    heap* heap_ = nullptr;
};

}  // namespace halcyon::calls
