#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Adds the functions of the room models, in a submodule of that name.
void add_models(nanobind::module_& m);

}  // namespace halcyon::python
