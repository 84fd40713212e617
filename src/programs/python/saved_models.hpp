#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Adds the class SavedModels to the module.
void add_saved_models(nanobind::module_& m);

}  // namespace halcyon::python
