#pragma once

namespace halcyon::kept_settings {

/// Takes them from the environment, once: an application may clear that before it starts others.
void remember();
/// As the environment said when the program began; "": not set. Of those that start.cpp lists.
const char* value_of(const char* name);

}  // namespace halcyon::kept_settings
