#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Adds TraceReader, over observe/trace/trace_reader.hpp, to the module.
void add_trace_reader(nanobind::module_& module);

}  // namespace halcyon::python
