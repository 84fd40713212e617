#pragma once

#include <mpi.h>

#include "offload/server/shared_files.hpp"

namespace halcyon {

/// Collective over the servers that have an offer: writes one file from the first offered iteration to the last that
/// all have, and publishes it. Sets `iterations`, `report` and `try_again` of `outcome`, all of which but the numbers
/// of bytes are the same everywhere, `iterations` only without a failure. After a failure nothing is published and no
/// temporary is left.
void write_together(MPI_Comm servers, offload::shared_offer& mine, offload::shared_outcome& outcome);

}  // namespace halcyon
