#pragma once

#include <atomic>

namespace halcyon::calls {

/// Called in a thread of which a jump leaves all calls (leave_calls), before they are left; null: nobody asks. For a
/// layer that counts calls under way; must obey the rules of layer.
using left_calls_teller = void (*)();
extern constinit std::atomic<left_calls_teller> tell_of_left_calls;

}  // namespace halcyon::calls
