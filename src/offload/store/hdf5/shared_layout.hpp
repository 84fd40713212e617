#pragma once

#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// Writes `file.about.path` + ".tmp": every group, attribute and table, and each dataset as one contiguous piece whose
/// room is reserved. Datasets that will not be covered hold fill values. Throws (config), (system).
void lay_out_file(const shared_file& file);

}  // namespace halcyon::offload::hdf5
