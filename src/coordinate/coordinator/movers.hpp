#pragma once

#include <vector>

#include "coordinate/coordinator/outbox.hpp"
#include "coordinate/coordinator/registry.hpp"

namespace halcyon::coordinate {

/// The applications that move, and how many of them each has beside it. The list is made when somebody asks for it
/// after a change; the applications are told at the end of a round.
class movers {
  public:
    /// As they were when the list was made.
    const std::vector<policy::application>& list(const registry& all, double now_s);
    /// `of` is one more at its targets, or one less. What was told of speeds is not about the new company.
    static void count(registry& all, job& of, int64_t more, double now_s);
    /// Who moves, or how, has changed.
    void change() { known_ = told_ = false; }
    /// An agent has not heard it.
    void tell_again() { told_ = false; }
    /// To all that move, how many move beside them, where that has changed.
    void tell(registry& all, outbox& out);

  private:
    std::vector<policy::application> list_;
    bool known_ = false;
    bool told_ = true;
};

}  // namespace halcyon::coordinate
