#pragma once

#include <cstdint>
#include <vector>

namespace halcyon::policy {

/// Who had how much of a file system lately: time with the turn, halved every `half_life_s`, by account or by set.
/// Fair share and set-10 give the turn to the one that had the least for its weight. Allocates for a key seen first.
class ledger {
  public:
    explicit ledger(double half_life_s = 60) : half_life_s_(half_life_s > 0 ? half_life_s : 60) {}

    /// `key` had the turn for `turn_s` up to `now_s`. Ignored: times that are not finite or not above 0.
    void charge(int64_t key, double turn_s, double now_s);
    /// Time with the turn that still counts at `now_s`; 0 for a key never charged.
    [[nodiscard]] double used_s(int64_t key, double now_s) const;

  private:
    struct entry {
        int64_t key = 0;
        double used_s = 0;
        double at_s = 0;
    };
    [[nodiscard]] double decayed(const entry& one, double now_s) const;

    double half_life_s_;
    std::vector<entry> entries_;  ///< sorted by key
};

}  // namespace halcyon::policy
