// The file backends of libhalcyon-io.
#include "calls/backends/mounts.hpp"

namespace halcyon::calls {

/// None answers yet.
void backends::start_backends() {}

}  // namespace halcyon::calls
