#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Of halcyon._logfs: how what works on containers in the background is started.
void add_log_agent(nanobind::module_& m);

}  // namespace halcyon::python
