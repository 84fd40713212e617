#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "logfs/container/format/run.hpp"
#include "logfs/container/writing/time_line.hpp"

namespace halcyon::logfs {

/// Finds patterns in the writes of one writer. It holds two runs: the *element* that is being written, by one write or
/// by several that follow one another, and the *pattern* of whole elements before it.
class run_builder {
  public:
    /// A write of `length` bytes at `start`, which lie at `physical`; `now_ns` grows from write to write. True:
    /// `complete` is a run that nothing will be added to any more, older than all others here.
    bool add(int64_t start, int64_t length, int64_t physical, int64_t now_ns, run& complete);

    /// Nothing is added to what is here: up to two runs, in their order.
    size_t finish(run (&complete)[2]);

    /// What is here, in its order: nothing (count 0), an element, or a pattern and an element.
    [[nodiscard]] std::span<const run, 2> open() const { return open_; }
    [[nodiscard]] uint16_t count() const { return has_pattern_ ? 2 : open_[0].count > 0 ? 1 : 0; }

  private:
    run& pattern() { return open_[0]; }
    run& element() { return open_[has_pattern_ ? 1 : 0]; }
    bool extend_element(int64_t start, int64_t length, int64_t physical, int64_t now_ns);
    bool close_element(run& complete);
    bool join_pattern();

    // They are part of the state that each write changes, which is copied word by word: nothing here is stored in
    // smaller pieces, unless it changes.
    run open_[2];
    bool has_pattern_ = false;
    time_line pattern_line_;
    time_line element_line_;
    bool element_has_line_ = false;
    int64_t pattern_written_ns_ = 0;  // the last write to its first element, while it is the only one
    int64_t pattern_took_ns_ = 0;     // from the first write to an element to the last; the longest
    int64_t element_written_ns_ = 0;  // the last write
};

}  // namespace halcyon::logfs
