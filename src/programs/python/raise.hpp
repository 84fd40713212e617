#pragma once

#include <nanobind/nanobind.h>

#include "halcyon/error.hpp"

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

/// Raises what halcyon.errors.of_failure makes of a failure that concerns `path`: where the system refused, it has the
/// errno, and is what Python raises for that, too.
[[noreturn]] inline void raise(const failure& what, const nanobind::object& path) {
    const nanobind::object of_failure = nanobind::module_::import_("halcyon.errors").attr("of_failure");
    const auto text = nanobind::steal<nanobind::object>(PyUnicode_DecodeFSDefault(what.message.c_str()));
    const nanobind::object raised = of_failure(static_cast<int>(what.kind), text, what.system_errno, path);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
    throw nanobind::python_error();
}

}  // namespace halcyon::python
