#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/descriptor.hpp"
#include "base/turn.hpp"
#include "offload/server/job_events.hpp"
#include "offload/server/shared_files.hpp"

namespace halcyon {

/// What every node server does once it listens: receives the segment, opens its log, takes a free core, serves.
/// `coordinated` (or null): makes what a configuration with `turns: coordinator` asks for. Returns the process's exit
/// status.
int serve_node(descriptor listening, uint32_t generation, offload::job_events* job, offload::shared_files* files,
               const std::function<std::unique_ptr<turn>()>& coordinated);

}  // namespace halcyon
