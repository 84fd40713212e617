#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "coordinate/page/phase_forecast.hpp"
#include "coordinate/protocol/operation.hpp"

namespace halcyon::coordinate {

/// What one level of a program knows of its accesses to come. 0: not known.
struct known_access {
    int64_t bytes = 0;
    int64_t files = 0;
    operation what = operation::write;
    double alone_s = 0;
    double period_s = 0;
    std::vector<uint32_t> targets = {};  ///< storage targets, in ascending order, each once
    bool uses_all_targets = false;       ///< or more than can be told
};

/// What the levels of a program know, the outermost first. That one covers all that the others do within: so its bytes
/// and times count where it knows them, and its targets. The kind of access is that of the innermost, which happens
/// now.
class known_accesses {
  public:
    static constexpr size_t most_levels = 64;
    static constexpr int64_t bytes_of_file = 4096;  ///< as the layer counts a call on a file's name

    [[nodiscard]] bool is_full() const { return levels_.size() == most_levels; }
    [[nodiscard]] bool empty() const { return levels_.empty(); }
    /// `moved`: by the process, ever.
    void add(known_access one, int64_t moved) { levels_.push_back({std::move(one), moved}); }
    void remove_last() { levels_.pop_back(); }

    [[nodiscard]] operation what() const { return empty() ? operation::write : levels_.back().known.what; }
    /// Storage targets; none: not known, or all. Valid until a level is added or removed.
    [[nodiscard]] std::span<const uint32_t> targets() const;
    /// Of a phase that began `since_s` ago, and of the next one.
    [[nodiscard]] phase_forecast forecast(int64_t moved, double since_s) const;
    /// Of the next phase alone.
    [[nodiscard]] phase_forecast after(int64_t moved, double since_s) const;
    [[nodiscard]] bool knows_next() const;

  private:
    struct level {
        known_access known;
        int64_t moved_before;
    };
    /// The outermost level for which `get` knows something; null: none.
    template <class Get>
    [[nodiscard]] const level* outermost(Get get) const {
        for (const level& one : levels_)
            if (get(one.known) > 0) return &one;
        return nullptr;
    }

    std::vector<level> levels_;
};

}  // namespace halcyon::coordinate
