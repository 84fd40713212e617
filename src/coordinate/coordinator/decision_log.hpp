#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "coordinate/protocol/messages.hpp"
#include "policy/decide.hpp"

namespace halcyon::coordinate {

/// The latest decisions that changed anything, for `explain`. Of each, as much as is shown: not all of thousands of
/// applications.
class decision_log {
  public:
    static constexpr size_t most_names = 16;
    /// Of a decision about more, the observed cost is not told.
    static constexpr size_t most_pending = 256;

    /// One application that was decided about.
    struct participant {
        uint64_t id = 0;
        double arrived_s = 0;  ///< tells its phases apart
    };
    /// What it was decided by.
    struct belief {
        std::string job;
        double left_s = 0;
        double demand = 1;
    };
    struct entry {
        double at_s = 0;
        policy::reason why = policy::reason::alone;
        uint32_t present = 0;
        uint32_t expected = 0;
        std::vector<std::string> move;  ///< names of jobs that may begin to move
        std::vector<std::string> stop;
        size_t more_move = 0;  ///< that are not named
        size_t more_stop = 0;
        std::vector<policy::alternative> alternatives;
        std::vector<belief> believed;  ///< of those that want the storage, the first of them
        double unseen_share = 0;
        std::vector<participant> pending;  ///< whose phases have not ended
        double observed_cost = 0;          ///< of those that have
        bool broken = false;               ///< a phase ended unfinished: the cost cannot be compared
    };

    explicit decision_log(uint32_t kept) : kept_(kept) {}

    void add(entry what);
    /// With its part of the metric: of its whole time, waiting included.
    void phase_ended(participant who, double cost);
    void phase_broken(participant who);

    /// The latest `n`, oldest first.
    [[nodiscard]] std::vector<decided> latest(size_t n, double now_s) const;
    [[nodiscard]] const std::deque<entry>& entries() const { return entries_; }
    /// How many there were of each reason, since the start.
    [[nodiscard]] const std::map<policy::reason, uint64_t>& by_reason() const { return by_reason_; }

  private:
    template <class What>
    void end(participant who, What&& what);
    void forget_oldest();

    size_t kept_;
    std::deque<entry> entries_;
    uint64_t first_ = 0;  ///< number of the oldest entry; the next one has the next number
    /// Numbers of the entries where each is pending, in ascending order.
    std::unordered_map<uint64_t, std::deque<uint64_t>> pending_in_;
    std::map<policy::reason, uint64_t> by_reason_;
};

}  // namespace halcyon::coordinate
