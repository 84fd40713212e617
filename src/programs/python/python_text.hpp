#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace halcyon::python {

/// Names of files and programs need not be UTF-8: what is not becomes what Python's os.fsdecode makes of it.
inline nanobind::object as_text(std::string_view name) {
    return nanobind::steal<nanobind::object>(
        PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
}

/// A path as the system has it: of str, bytes or anything that os.fsencode takes.
inline std::string path_of(const nanobind::object& path) {
    const auto bytes = nanobind::cast<nanobind::bytes>(nanobind::module_::import_("os").attr("fsencode")(path));
    return {bytes.c_str(), bytes.size()};
}

}  // namespace halcyon::python
