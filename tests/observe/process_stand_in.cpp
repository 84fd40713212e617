// What the room of calls wants from the library that is built from it; here nothing is recorded.
#include "calls/backends/mounts.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls {

bool can_start_layers() {
    return true;
}

void backends::start_backends() {}

void backends::answer_streams() {}

void start_layers(layer_chain& layers) {
    layers.clear();
}

const char* const* environment_of_children() {
    static const char* const none[] = {nullptr};
    return none;
}

}  // namespace halcyon::calls
