// The open containers of halcyon._logfs.
#include "programs/python/log_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/direct/files_of_process.hpp"
#include "programs/python/log_calls.hpp"

namespace nb = nanobind;

namespace halcyon::python {
namespace {

/// The memory of an object that has Python's buffer interface, in one piece. It stays where it is for as long as this
/// lives.
class held_buffer {
  public:
    enum class use : uint8_t { is_read, is_written };

    held_buffer(const nb::object& of, use how) {
        const int flags = how == use::is_written ? PyBUF_WRITABLE : PyBUF_SIMPLE;
        if (PyObject_GetBuffer(of.ptr(), &view_, flags) != 0) throw nb::python_error();
    }
    ~held_buffer() { PyBuffer_Release(&view_); }
    held_buffer(const held_buffer&) = delete;
    held_buffer& operator=(const held_buffer&) = delete;

    [[nodiscard]] std::span<std::byte> bytes() const {
        return {static_cast<std::byte*>(view_.buf), static_cast<size_t>(view_.len)};
    }

  private:
    Py_buffer view_{};
};

class open_log {
    [[nodiscard]] bool is_mine() const { return pid_ == ::getpid(); }

    template <class Call>
    auto call(Call&& function) {
        if (!is_mine()) {
            const std::string name = path_of(path_);
            raise({error_kind::usage, name + ": opened by the process that this one was forked off; open it again here",
                   EBADF},
                  path_);
        }
        return without_interpreter(path_, std::forward<Call>(function));
    }

  public:
    open_log(nb::object path, bool reads, bool writes, bool creates, bool is_exclusive, bool truncates,
             uint32_t permissions, bool has_checks, bool verifies)
        : path_(std::move(path)) {
        logfs::opening how;
        how.may_read = reads;
        how.may_write = writes;
        how.creates = creates;
        how.is_exclusive = is_exclusive;
        how.truncates = truncates;
        how.says_open = true;
        how.mode = permissions;
        how.writing.has_data_checks = has_checks;
        how.reading.verifies_data = verifies;
        how.index_folder = logfs::wished_node_folder();
        const std::string name = system_path(path_);
        without_interpreter(path_, [&] { return file_.open(name, logfs::writer_identity::of_this_process(), how); });
    }
    /// Of a forked child it is not the file.
    ~open_log() {
        if (!is_mine()) file_.abandon();
    }
    open_log(const open_log&) = delete;
    open_log& operator=(const open_log&) = delete;

    int64_t read_into(int64_t offset, const nb::object& buffer) {
        const held_buffer into(buffer, held_buffer::use::is_written);
        return call([&] { return file_.read(offset, into.bytes()); });
    }
    /// No more bytes than the file has are made room for.
    nb::object read(int64_t offset, int64_t count) {
        const int64_t there = std::max<int64_t>(size() - std::max<int64_t>(offset, 0), 0);
        auto read = nb::steal<nb::object>(PyBytes_FromStringAndSize(nullptr, std::clamp<int64_t>(count, 0, there)));
        if (!read.is_valid()) throw nb::python_error();
        auto* const out = reinterpret_cast<std::byte*>(PyBytes_AsString(read.ptr()));
        const auto room = static_cast<size_t>(PyBytes_Size(read.ptr()));
        const int64_t bytes = call([&] { return file_.read(offset, {out, room}); });
        if (static_cast<size_t>(bytes) == room) return read;
        PyObject* shorter = read.release().ptr();
        if (_PyBytes_Resize(&shorter, bytes) != 0) throw nb::python_error();
        return nb::steal<nb::object>(shorter);
    }
    int64_t write(int64_t offset, const nb::object& buffer) {
        const held_buffer from(buffer, held_buffer::use::is_read);
        return call([&] { return file_.write(offset, from.bytes()); });
    }
    nb::tuple append(const nb::object& buffer) {
        const held_buffer from(buffer, held_buffer::use::is_read);
        const auto done = call([&] { return file_.append(from.bytes()); });
        return nb::make_tuple(done.offset, done.bytes);
    }
    void truncate(int64_t bytes) {
        call([&] { return file_.truncate(bytes); });
    }
    void erase(int64_t offset, int64_t bytes) {
        call([&] { return file_.erase(offset, bytes); });
    }
    int64_t size() {
        return call([&] { return file_.size(); });
    }
    int64_t next_data(int64_t offset) {
        return call([&] { return file_.next_data(offset); });
    }
    int64_t next_hole(int64_t offset) {
        return call([&] { return file_.next_hole(offset); });
    }
    void refresh() {
        call([&] { return file_.refresh(); });
    }
    void settle() {
        call([&] { return file_.settle(); });
    }
    void sync() {
        call([&] { return file_.sync(); });
    }
    /// In a forked child it only forgets the file.
    void close() {
        if (is_mine())
            call([&] { return file_.close(); });
        else
            file_.abandon();
    }

    /// Around a fork. Whoever is in the middle of something needs no interpreter to end it: so it is kept here, and no
    /// other thread comes between.
    void hold() { file_.hold(); }
    void let_go() { file_.let_go(); }
    void abandon() { file_.abandon(); }

  private:
    nb::object path_;
    pid_t pid_ = ::getpid();
    logfs::log_file file_{logfs::files_of_process()};
};

}  // namespace

void add_log_file(nb::module_& m) {
    nb::class_<open_log>(m, "File", nb::is_weak_referenceable(),
                         "A container that this process has open, as a file without a position.")
        .def(nb::init<nb::object, bool, bool, bool, bool, bool, uint32_t, bool, bool>(), nb::arg("path"), nb::kw_only(),
             nb::arg("reads"), nb::arg("writes"), nb::arg("creates"), nb::arg("is_exclusive"), nb::arg("truncates"),
             nb::arg("permissions"), nb::arg("has_checks"), nb::arg("verifies"))
        .def("read_into", &open_log::read_into, nb::arg("offset"), nb::arg("buffer"))
        .def("read", &open_log::read, nb::arg("offset"), nb::arg("count"))
        .def("write", &open_log::write, nb::arg("offset"), nb::arg("buffer"))
        .def("append", &open_log::append, nb::arg("buffer"), "Behind the end; where that was, and how many bytes.")
        .def("truncate", &open_log::truncate, nb::arg("size"))
        .def("erase", &open_log::erase, nb::arg("offset"), nb::arg("length"))
        .def("size", &open_log::size)
        .def("next_data", &open_log::next_data, nb::arg("offset"), "-1: there is none.")
        .def("next_hole", &open_log::next_hole, nb::arg("offset"), "-1: the file ends before.")
        .def("refresh", &open_log::refresh)
        .def("settle", &open_log::settle)
        .def("sync", &open_log::sync)
        .def("close", &open_log::close)
        .def("hold", &open_log::hold)
        .def("let_go", &open_log::let_go)
        .def("abandon", &open_log::abandon);
}

}  // namespace halcyon::python
