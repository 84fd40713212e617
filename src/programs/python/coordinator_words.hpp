#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Adds the submodule `coordinator`: words in which a coordinator tells operators of its state.
void add_coordinator_words(nanobind::module_& m);

}  // namespace halcyon::python
