#pragma once

#include <memory>

#include "base/turn.hpp"

namespace halcyon {

/// What `turns: coordinator` asks for, in a server that a process of the simulation has started: the turn of the job
/// under whose name libhalcyon-io coordinates that process. Never null: where that cannot be had, it says why, and
/// everything is stored without turns.
std::unique_ptr<turn> turns_of_job();

}  // namespace halcyon
