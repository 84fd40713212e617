#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Of halcyon._logfs: what is done with whole containers.
void add_log_tools(nanobind::module_& m);

}  // namespace halcyon::python
