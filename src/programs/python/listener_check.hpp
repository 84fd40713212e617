#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Adds check_listener(): whom clients at Unix sockets believe, for the command line as for agents.
void add_listener_check(nanobind::module_& m);

}  // namespace halcyon::python
