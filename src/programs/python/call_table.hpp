#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Adds call_table(), over calls/call_table.hpp, and the words of its columns to the module.
void add_call_table(nanobind::module_& m);

}  // namespace halcyon::python
