#pragma once

#include <cstdint>
#include <span>

#include "policy/contender.hpp"
#include "policy/problem.hpp"

namespace halcyon::policy {

/// The numbers of contenders for searches, added one by one.
class problem_builder {
  public:
    /// `learned`: null where all share proportionally. `unseen_share` of the bandwidth is taken by others.
    problem_builder(problem& into, const interference* learned, double unseen_share, double now_s);

    /// At most problem::most. In the order in which ties are decided.
    void add(const contender& one);
    void remove_last();

  private:
    problem& into_;
    const interference* learned_;
    double free_;  ///< of the bandwidth
    double now_s_;
    std::array<const application*, problem::most> added_{};
};

}  // namespace halcyon::policy
