#pragma once

#include <nanobind/nanobind.h>

namespace halcyon::python {

/// Raises the class of halcyon.errors that belongs to `kind`, a halcyon_error.
[[noreturn]] inline void raise(int kind, const char* message) {
    const nanobind::object by_code = nanobind::module_::import_("halcyon.errors").attr("BY_CODE");
    const nanobind::object type = by_code[nanobind::int_(kind)];
    // It may name a file, whose name need not be UTF-8.
    const auto text = nanobind::steal<nanobind::object>(PyUnicode_DecodeFSDefault(message));
    PyErr_SetObject(type.ptr(), type(text).ptr());
    throw nanobind::python_error();
}

}  // namespace halcyon::python
