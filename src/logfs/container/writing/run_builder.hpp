#pragma once

#include <cstddef>
#include <cstdint>

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

    /// Each empty (count 0) when there is none; the pattern is older.
    [[nodiscard]] const run& pattern() const { return pattern_; }
    [[nodiscard]] const run& element() const { return element_; }

  private:
    bool extend_element(int64_t start, int64_t length, int64_t physical, int64_t now_ns);
    bool close_element(run& complete);
    bool join_pattern();

    run pattern_;
    run element_;
    time_line pattern_line_;
    time_line element_line_;
    bool element_has_line_ = false;
    int64_t pattern_written_ns_ = 0;  // the last write to its first element, while it is the only one
    int64_t pattern_took_ns_ = 0;     // from the first write to an element to the last; the longest
    int64_t element_written_ns_ = 0;  // the last write
};

}  // namespace halcyon::logfs
