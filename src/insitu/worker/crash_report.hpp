#pragma once

#include <string>

namespace halcyon::insitu {

/// Has a crash of this process say on standard error which calls led to it, before it ends as it would have anyway.
/// `name`: what is said to have crashed. Once.
void report_crashes(const std::string& name);

}  // namespace halcyon::insitu
