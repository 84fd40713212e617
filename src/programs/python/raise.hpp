#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Raises the class of halcyon.errors that belongs to `kind`, a halcyon_error.
[[noreturn]] inline void raise(int kind, const char* message) {
    const nanobind::object by_code = nanobind::module_::import_("halcyon.errors").attr("BY_CODE");
    const nanobind::object type = by_code[nanobind::int_(kind)];
    PyErr_SetObject(type.ptr(), type(nanobind::str(message)).ptr());
    throw nanobind::python_error();
}

}  // namespace halcyon::python
