#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "programs/python/python_text.hpp"
#include "programs/python/raise.hpp"

namespace halcyon::python {

/// Calls what returns a result, without holding the interpreter, since it may wait. What it returns, or raises its
/// failure, which concerns `path`.
template <class Call>
auto without_interpreter(const nanobind::object& path, Call&& function) {
    auto done = [&] {
        const nanobind::gil_scoped_release others_run;
        return function();
    }();
    if (PyErr_Occurred() != nullptr) throw nanobind::python_error();  // of told_progress
    if (!done) raise(done.why(), path);
    if constexpr (!std::is_same_v<decltype(done), result<void>>) return *std::move(done);
}

/// UsageError: the system has no such names.
inline std::string system_path(const nanobind::object& path) {
    std::string name = path_of(path);
    if (name.find('\0') != std::string::npos)
        raise({error_kind::usage, "a path with a byte 0 in it; no file has such a name", 0}, path);
    return name;
}

/// How far a call is that runs without the interpreter. `told`: None, or called with how many bytes are done, and of
/// how many. What it raises ends the call, as what a signal's handler raises does.
class told_progress {
  public:
    explicit told_progress(nanobind::object told) : told_(std::move(told)) {}

    void begin(int64_t size) { size_ = size; }
    /// False: stop. The exception is set then.
    bool reach(int64_t done) {
        const nanobind::gil_scoped_acquire interpreter;
        if (PyErr_CheckSignals() != 0) return false;
        if (told_.is_none()) return true;
        try {
            told_(done, size_);
            return true;
        } catch (nanobind::python_error& raised) {
            raised.restore();
            return false;
        }
    }

  private:
    nanobind::object told_;
    int64_t size_ = 0;
};

}  // namespace halcyon::python
