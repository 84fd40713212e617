#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/piece.hpp"

namespace halcyon::logfs {

/// Puts pieces over each other, the later ones on top.
///
/// Pieces lie in *layers*: in a layer each begins where the one before has ended, or behind that. Two layers are merged
/// into one, until there is one. No merge makes many more than twice as many pieces as it takes: so n pieces take about
/// n log n steps, however they lie.
class overlay {
  public:
    overlay(memory_source& memory, const dropping_table& writers)
        : writers_(writers), pieces_(memory), merged_(memory), layers_(memory), next_layers_(memory) {}

    /// To be filled, in any order; pieces of one run that follow one another there are one layer.
    [[nodiscard]] page_array<piece>& pieces() { return pieces_; }

    /// Leaves of pieces() what counts, as one layer. False: no memory.
    [[nodiscard]] bool resolve();
    /// Its memory goes back; there are no pieces then.
    void release();

  private:
    class layer;

    /// Which of two pieces counts: the first one in front of `changes_at` and the other one from there on, or, unless
    /// `is_first`, the other way round.
    struct order {
        bool is_first;
        int64_t changes_at;
    };

    [[nodiscard]] bool find_layers();
    [[nodiscard]] bool merge(std::span<const piece> one, std::span<const piece> other);
    [[nodiscard]] bool put_over(layer& first, layer& second);
    [[nodiscard]] order order_of(const piece& a, const piece& b) const;
    [[nodiscard]] bool is_over(const piece& a, const piece& b, int64_t position) const;

    const dropping_table& writers_;
    page_array<piece> pieces_;
    page_array<piece> merged_;
    page_array<size_t> layers_;  // where each begins, and where the last one ends
    page_array<size_t> next_layers_;
};

/// Appends what [begin, end) reads as, without a gap, of a layer of pieces that lie in it. False: no memory.
[[nodiscard]] bool append_segments(std::span<const piece> layer, int64_t begin, int64_t end, page_array<segment>& out);

}  // namespace halcyon::logfs
