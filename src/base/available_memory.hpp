#pragma once

#include <cstdint>

namespace halcyon {

/// Bytes that this process could still take without the system killing somebody for it: what the kernel calls
/// available, or less where a control group (version 1 or 2) of the process sets a limit. Memory reserved by
/// fallocate on a memfd is bounded by nothing else: not by the size of /dev/shm, and no error comes before the killer.
uint64_t available_memory();

}  // namespace halcyon
