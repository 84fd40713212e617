#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/piece.hpp"

namespace halcyon::logfs {

/// A range that two writers wrote at times that do not say which was first.
struct conflict {
    int64_t start;
    int64_t length;
    uint32_t shown;   ///< whose bytes are read
    uint32_t hidden;  ///< whose are not
};

/// Puts pieces over each other, the later ones on top.
class overlay {
  public:
    overlay(memory_source& memory, const dropping_table& writers)
        : writers_(writers),
          pieces_(memory),
          scratch_(memory),
          bounds_(memory),
          next_bounds_(memory),
          active_(memory),
          moments_(memory) {}

    /// To be filled with what overlaps a range, cut to it. Those that overlap it anew begin with none.
    [[nodiscard]] page_array<piece>& pieces() { return pieces_; }

    /// Appends what the range [begin, end) reads as, without a gap, from what is in pieces(). Conflicts too, unless
    /// null. False: no memory.
    [[nodiscard]] bool resolve(int64_t begin, int64_t end, page_array<segment>& out, page_array<conflict>* conflicts);

  private:
    [[nodiscard]] bool sort();
    [[nodiscard]] bool find_sorted_stretches();
    [[nodiscard]] bool put_over_each_other(int64_t begin, int64_t end, page_array<segment>& out);
    [[nodiscard]] bool compare_each(int64_t begin, int64_t end, page_array<segment>& out,
                                    page_array<conflict>* conflicts);
    [[nodiscard]] bool is_in_one_order(bool& no_memory);
    [[nodiscard]] bool is_later(const piece& a, const piece& b) const;
    [[nodiscard]] bool is_over(const piece& a, const piece& b, int64_t position) const;
    [[nodiscard]] int64_t first_over(const piece& other, const piece& winner, int64_t begin, int64_t end) const;
    [[nodiscard]] bool is_in_doubt(const piece& a, const piece& b, int64_t position) const;
    [[nodiscard]] bool note_conflicts(const piece& winner, int64_t begin, int64_t end, page_array<conflict>& out) const;

    const dropping_table& writers_;
    page_array<piece> pieces_;
    page_array<piece> scratch_;
    page_array<size_t> bounds_;  // of stretches that are sorted
    page_array<size_t> next_bounds_;
    page_array<uint32_t> active_;  // pieces at the current position
    page_array<int64_t> moments_;
};

/// Appends a segment, as a part of the one before where it goes on with that.
[[nodiscard]] bool append_segment(page_array<segment>& out, const segment& what);

}  // namespace halcyon::logfs
