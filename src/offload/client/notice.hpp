#pragma once

#include <string>

namespace halcyon::offload {

/// What the calls of this thread that go well have to say all the same; halcyon_error_message() shows it.
inline std::string& notice() {
    thread_local std::string text;
    return text;
}

}  // namespace halcyon::offload
