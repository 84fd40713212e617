#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Of halcyon._logfs: containers that are open as files.
void add_log_file(nanobind::module_& m);

}  // namespace halcyon::python
