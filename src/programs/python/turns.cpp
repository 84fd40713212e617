// halcyon._turns: the C interface of io.h for halcyon/turns.py, which is the one that programs use. Never links MPI.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halcyon/io.h"
#include "programs/python/raise.hpp"
#include "programs/turns/interruptible_waits.hpp"

namespace nb = nanobind;

namespace {

/// The interface's messages name its functions in C: "halcyon_io_wait: …" is "Turns.wait: …" here.
std::string in_words_of_python(std::string message) {
    static constexpr std::string_view in_c = "halcyon_io_", init = "halcyon_io_init";
    for (size_t at = 0; (at = message.find(in_c, at)) != std::string::npos;) {
        const bool makes = message.compare(at, init.size(), init) == 0;
        message.replace(at, makes ? init.size() : in_c.size(), makes ? "Turns" : "Turns.");
    }
    return message;
}

/// Calls Halcyon without holding the interpreter, since a call may wait; raises what it returns.
template <class Call>
void call(Call&& function) {
    int code = HALCYON_OK;
    {
        const nb::gil_scoped_release others_run;
        code = function();
    }
    if (PyErr_Occurred() != nullptr) throw nb::python_error();  // run_handlers()
    if (code != HALCYON_OK) halcyon::python::raise(code, in_words_of_python(halcyon_io_error_message()).c_str());
}

/// Whether Python runs handlers of signals in this thread. A wait in another one never takes the interpreter, which may
/// come to its end meanwhile.
bool runs_handlers() {
    const nb::module_ threading = nb::module_::import_("threading");
    return threading.attr("get_ident")().equal(threading.attr("main_thread")().attr("ident"));
}

/// Of the signals that have come. 1: one of them has raised an exception.
int run_handlers(void*) {
    const nb::gil_scoped_acquire interpreter;
    return PyErr_CheckSignals() == 0 ? 0 : 1;
}

class turns {
  public:
    turns(const std::string& path, const std::optional<std::string>& config) {
        call([&] { return halcyon_io_init(config ? config->c_str() : nullptr, path.c_str(), &handle_); });
    }
    /// Nobody but this can give the turn back any more. Never blocks; in a process that was forked off the maker of the
    /// object it is refused, and changes nothing.
    ~turns() {
        if (handle_ != nullptr) static_cast<void>(halcyon_io_finalize(&handle_));
    }
    turns(const turns&) = delete;
    turns& operator=(const turns&) = delete;

    void prepare(int64_t bytes, int64_t files, int access, double alone_s, double period_s,
                 const std::vector<uint32_t>& targets) {
        const halcyon_io_info info{sizeof info, bytes,    files,          static_cast<halcyon_io_access>(access),
                                   alone_s,     period_s, targets.data(), targets.size()};
        call([&] { return halcyon_io_prepare(handle_, &info); });
    }
    void complete() {
        call([&] { return halcyon_io_complete(handle_); });
    }
    void inform() {
        call([&] { return halcyon_io_inform(handle_); });
    }
    bool check() {
        int authorized = 0;
        call([&] { return halcyon_io_check(handle_, &authorized); });
        return authorized != 0;
    }
    void wait() { wait_by(halcyon_io_wait, halcyon_io_wait_interruptibly); }
    void join() { wait_by(halcyon_io_join, halcyon_io_join_interruptibly); }
    void release() {
        call([&] { return halcyon_io_release(handle_); });
    }
    void finalize() {
        call([&] { return halcyon_io_finalize(&handle_); });
    }

    /// By the names of the members in io.h.
    nb::dict status() const {
        halcyon_io_status_t s{};
        s.size_bytes = sizeof s;
        call([&] { return halcyon_io_status(handle_, &s); });
        nb::dict of;
        of["coordination"] = static_cast<int>(s.coordination);
        of["stage"] = static_cast<int>(s.stage);
        of["our_turn"] = s.our_turn != 0;
        of["others_move"] = s.others_move != 0;
        of["expected_wait_s"] = s.expected_wait_s;
        of["load"] = s.load;
        of["waited_s"] = s.waited_s;
        of["bytes"] = s.bytes;
        of["bytes_unasked"] = s.bytes_unasked;
        of["steps_unasked"] = s.steps_unasked;
        of["steps_starving"] = s.steps_starving;
        of["holders"] = nb::bytes(s.holders);
        of["reason"] = nb::bytes(s.reason);
        return of;
    }

  private:
    void wait_by(int (*wait)(halcyon_io_handle), int (*interruptible)(halcyon_io_handle, int (*)(void*), void*)) {
        const bool handles = runs_handlers();
        call([&] { return handles ? interruptible(handle_, run_handlers, nullptr) : wait(handle_); });
    }

    halcyon_io_handle handle_ = nullptr;
};

}  // namespace

NB_MODULE(_turns, m) {
    m.attr("MAX_TARGETS") = HALCYON_IO_MAX_TARGETS;
    nb::class_<turns>(m, "Turns")
        .def(nb::init<const std::string&, const std::optional<std::string>&>(), nb::arg("path"),
             nb::arg("config").none())
        .def("prepare", &turns::prepare)
        .def("complete", &turns::complete)
        .def("inform", &turns::inform)
        .def("check", &turns::check)
        .def("wait", &turns::wait)
        .def("join", &turns::join)
        .def("release", &turns::release)
        .def("status", &turns::status)
        .def("finalize", &turns::finalize);
}
