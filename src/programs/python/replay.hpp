#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Adds the class Replay to the module.
void add_replay(nanobind::module_& m);

}  // namespace halcyon::python
