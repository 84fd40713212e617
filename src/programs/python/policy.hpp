#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Adds the decision of the room policy, in a submodule of that name.
void add_policy(nanobind::module_& m);

}  // namespace halcyon::python
