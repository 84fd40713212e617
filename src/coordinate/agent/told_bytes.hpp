#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace halcyon::coordinate {

/// How many of the bytes that the processes count the coordinator has heard of.
///
/// A call counts by the bytes that it asks for while it is under way, and by those that it moved when it is over: of a
/// large read at the end of a file, the count falls again, by more than many later calls move. As long as such calls
/// follow one another, the same surplus is seen again and again, and must be told once. When it stays away, it is
/// forgiven: an application of which no more bytes were told seems to be stalled.
class told_bytes {
  public:
    /// `counted` in all, at `now_s`.
    void look(int64_t counted, double now_s) {
        counted_ = counted;
        if (counted >= told_) return fell_s_.reset();
        if (!fell_s_) fell_s_ = now_s;
        if (now_s - *fell_s_ < forgiven_after_s) return;
        told_ = counted;
        fell_s_.reset();
    }
    /// At the last look.
    [[nodiscard]] int64_t untold() const { return std::max<int64_t>(counted_ - told_, 0); }
    void tell() { told_ = std::max(told_, counted_); }

  private:
    static constexpr double forgiven_after_s = 1;  // well below the time after which one counts as stalled
    int64_t counted_ = 0, told_ = 0;
    std::optional<double> fell_s_;  ///< since when fewer are counted than were told
};

}  // namespace halcyon::coordinate
