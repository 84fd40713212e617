#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coordinate/coordinator/outbox.hpp"
#include "coordinate/coordinator/registry.hpp"
#include "policy/groups.hpp"

namespace halcyon::coordinate {

/// The applications that move, and how many of them each has beside it. The list is made when somebody asks for it
/// after a change; the applications are told at the end of a round.
class movers {
  public:
    /// As they were when the list was made.
    const std::vector<policy::application>& list(const registry& all, double now_s);
    /// `of` is one more at its targets, or one less (-1). What was told of speeds is not about the new company.
    void count(registry& all, job& of, int64_t more, double now_s);
    /// Who moves, or how, has changed.
    void change() { known_ = told_ = false; }
    /// An agent has not heard it.
    void tell_again() { told_ = false; }
    /// To all that move, how many move beside them, where that has changed.
    void tell(registry& all, outbox& out);

  private:
    [[nodiscard]] bool may_have_company(const registry& all, const job& of);

    std::vector<policy::application> list_;
    bool known_ = false;
    bool told_ = true;
    /// Of those that are counted, and of some that no longer are: whoever uses none of them has no company.
    policy::target_groups taken_;
    size_t counted_ = 0;
    size_t gone_ = 0;  ///< whose targets are taken still
};

}  // namespace halcyon::coordinate
