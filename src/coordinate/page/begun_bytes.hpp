#pragma once

#include <cstdint>
#include <optional>

namespace halcyon::coordinate {

/// Bytes per interval, of calls whose bytes are counted when they begin: those of one interval may move in the
/// intervals behind it, too, as long as these begin nothing and a call is under way. So a speed is known one interval
/// later. Very short intervals are joined with the next one.
class begun_bytes {
  public:
    struct moved {
        int64_t bytes = 0;
        double seconds = 0;
        double begun_ago_s = 0;  ///< when they began to move
    };
    static constexpr double least_s = 0.005;

    /// An interval. Returns what has moved, if that is known of anything.
    std::optional<moved> add(int64_t bytes, double seconds, bool under_way) {
        std::optional<moved> known;
        const bool others_follow = held_.bytes > 0 && held_.seconds >= least_s && bytes > 0 && under_way;
        if (others_follow) {
            known = held_;
            known->begun_ago_s = held_.seconds + seconds;
            held_ = {};
        }
        if (held_.bytes > 0 || bytes > 0) held_.seconds += seconds;
        held_.bytes += bytes;
        if (under_way || held_.bytes == 0 || held_.seconds < least_s) return known;
        known = held_;
        known->begun_ago_s = held_.seconds;
        held_ = {};
        return known;
    }
    void clear() { held_ = {}; }

  private:
    moved held_;  ///< not known yet
};

}  // namespace halcyon::coordinate
