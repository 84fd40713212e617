#pragma once

#include <array>
#include <cstdint>

#include "predict/grammar/index.hpp"

namespace halcyon::predict {

/// A node on the way from a rule down to a terminal, and how many of the node's repetitions are done. The repetition
/// under way is the one after those. `loose`: it is not known how many were done before the cursor came to the node;
/// the repetitions done since are counted.
class frame {
  public:
    frame() = default;
    frame(node_index at, uint64_t done, bool loose = false)
        : word_(at | uint64_t{loose} << loose_at | done << done_at) {}

    [[nodiscard]] node_index at() const { return static_cast<node_index>(word_ & index_mask); }
    [[nodiscard]] bool loose() const { return (word_ >> loose_at & 1) != 0; }
    [[nodiscard]] uint64_t done() const { return word_ >> done_at; }
    bool operator==(const frame&) const = default;

  private:
    static constexpr unsigned loose_at = index_bits, done_at = index_bits + 1;

    uint64_t word_ = 0;
};

/// A place in the input at which it may be now, or rather a set of such places: those that have the same way from a
/// rule down to the terminal that would come next. The outermost frame stands in a rule that may be used anywhere, so
/// the cursor stands for all uses of it; only when that rule ends are they told apart. Cursors of one set stand for
/// different places. The last frame's symbol comes next; if that is a rule, it is entered only when its first terminal
/// has come: most cursors do not live to see that.
struct cursor {
    static constexpr unsigned most_frames = 20;

    double weight = 0;  ///< how often this context occurred in the input
    /// The terminal that came before the rule in which the outermost frame stands, if its beginning was seen: it
    /// decides which uses of that rule this one may be. `nothing`: not known.
    symbol_index before = nothing;
    uint32_t depth = 0;
    std::array<frame, most_frames> frames;  ///< the outermost first

    [[nodiscard]] const frame& last() const { return frames[depth - 1]; }
    [[nodiscard]] frame& last() { return frames[depth - 1]; }
};

}  // namespace halcyon::predict
