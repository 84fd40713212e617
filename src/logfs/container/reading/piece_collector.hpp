#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/piece.hpp"

namespace halcyon::logfs {

/// Takes the pieces that overlap a range of the file, cut to it. A few records can stand for any number of pieces, so
/// there is a limit.
///
/// What adds pieces returns false where there is no memory for them, or where they are more than the limit.
class piece_collector {
  public:
    piece_collector(page_array<piece>& into, int64_t begin, int64_t end, size_t most)
        : into_(into), begin_(begin), end_(end), most_(most) {}

    [[nodiscard]] int64_t begin() const { return begin_; }
    [[nodiscard]] int64_t end() const { return end_; }
    [[nodiscard]] bool overlaps(int64_t from, int64_t to) const { return from < end_ && to > begin_; }

    [[nodiscard]] bool add(piece found) {
        if (into_.size() >= most_) return false;
        found.clip(begin_, end_);
        return into_.push(found);
    }
    [[nodiscard]] bool add(const extent& from);
    /// What of a run overlaps the range, by where it starts. A single extent has to stay where it is, see piece::line.
    [[nodiscard]] bool add(const run& what, uint32_t dropping, bool is_hole);

  private:
    [[nodiscard]] bool add_elements(const run& what, uint32_t dropping);

    page_array<piece>& into_;
    int64_t begin_;
    int64_t end_;
    size_t most_;
};

/// Of a pattern each of whose elements replaces the one before: the last one.
run last_element_of(const run& what);

/// Rounded down.
inline int64_t floor_of(int64_t a, int64_t b) {
    const int64_t quotient = a / b;
    return a % b < 0 ? quotient - 1 : quotient;
}

}  // namespace halcyon::logfs
