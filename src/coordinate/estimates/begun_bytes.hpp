#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace halcyon::coordinate {

/// Bytes per interval, of calls whose bytes are counted when they begin: those of one interval may move in the
/// intervals behind it, too, as long as these begin nothing and a call is under way. So a speed is known one interval
/// later. Very short intervals are joined with the next one. Of calls that all begin at once after a pause, as many
/// bytes stay under way until nothing is: so long they do not count as moved, nor does the time until more bytes begin,
/// in which nothing but these moved. Collective writes begin all bytes of a round at once, and the next round in the
/// moment in which the one before ends.
class begun_bytes {
  public:
    struct moved {
        int64_t bytes = 0;
        double seconds = 0;
        double begun_ago_s = 0;  ///< when the first of them began to move

        [[nodiscard]] double bytes_per_s() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
        /// Nearly all of its time was after `s`, or before it.
        [[nodiscard]] bool is_after(double s, double now_s) const { return s <= now_s - begun_ago_s + 0.1 * seconds; }
        [[nodiscard]] bool is_before(double s, double now_s) const { return s >= now_s - begun_ago_s + 0.9 * seconds; }
    };
    static constexpr double least_s = 0.005;
    /// Sums stop here, whatever is told.
    static constexpr int64_t most_bytes = int64_t{1} << 61U;

    /// An interval. Returns what has moved, if that is known of anything.
    std::optional<moved> add(int64_t bytes, double seconds, bool under_way) {
        std::optional<moved> known;
        if (!were_under_way_ && under_way && seconds < least_s && held_.bytes == 0) stay_ = std::exchange(bytes, 0);
        if (!under_way) {
            bytes = sum(bytes, std::exchange(stay_, 0));
            held_.seconds += std::exchange(stay_s_, 0.0);
        }
        were_under_way_ = under_way;
        const bool others_follow = held_.bytes > 0 && held_.seconds >= least_s && bytes > 0 && under_way;
        if (others_follow) {
            known = held_;
            known->begun_ago_s = held_.seconds + seconds;
            held_ = {};
        }
        if (held_.bytes > 0 || bytes > 0)
            held_.seconds += seconds;
        else if (stay_ > 0)
            stay_s_ += seconds;
        held_.bytes = sum(held_.bytes, bytes);
        if (under_way || held_.bytes == 0 || held_.seconds < least_s) return known;
        known = held_;
        known->begun_ago_s = held_.seconds;
        held_ = {};
        return known;
    }
    void clear() { *this = {}; }

  private:
    static int64_t sum(int64_t some, int64_t more) { return some + std::min(more, most_bytes - some); }

    moved held_;         ///< not known yet
    int64_t stay_ = 0;   ///< under way
    double stay_s_ = 0;  ///< in which these bytes alone moved
    bool were_under_way_ = false;
};

}  // namespace halcyon::coordinate
