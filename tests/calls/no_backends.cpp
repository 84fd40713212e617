// For the text layer's library, in which no backend answers and children are not cared for.
#include "calls/backends/mounts.hpp"

namespace halcyon::calls {

void backends::start_backends() {}

const char* const* environment_of_children() {
    static const char* const nothing[] = {nullptr};
    return nothing;
}

}  // namespace halcyon::calls
