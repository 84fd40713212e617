// What the room of calls wants from a library that is built from it: here no call is recorded.
#include "calls/backends/mounts.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls {

void backends::start_backends() {}

void backends::answer_streams() {}

bool can_start_layers() {
    return false;
}

void start_layers(layer_chain& layers) {
    layers.clear();
}

const char* const* environment_of_children() {
    static const char* const none[] = {nullptr};
    return none;
}

const char* shared_folder() {
    return "";
}

}  // namespace halcyon::calls
