#pragma once

#include "base/node_identity.hpp"

namespace halcyon::coordinate {

/// As node_identity::of_this_process(). Safe within applications.
node_identity own_node();

}  // namespace halcyon::coordinate
