// halcyon._client: the C interface for halcyon/client.py, which is the one that programs use. Built once per MPI.

#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "halcyon/halcyon.h"
#include "programs/python/raise.hpp"

namespace nb = nanobind;

namespace {

#if defined(OPEN_MPI)
constexpr const char* mpi_family = "Open MPI";
#elif defined(MPICH_VERSION)
constexpr const char* mpi_family = "MPICH";
#else
#error "neither Open MPI nor MPICH: halcyon._client could not tell whether mpi4py uses the same MPI"
#endif

struct element {
    const char* name;
    nb::dlpack::dtype dtype;
};

/// Elements as NumPy names them, in the order of halcyon_type.
constexpr std::array<element, 10> elements = {{
    {"int8", nb::dtype<int8_t>()},
    {"int16", nb::dtype<int16_t>()},
    {"int32", nb::dtype<int32_t>()},
    {"int64", nb::dtype<int64_t>()},
    {"uint8", nb::dtype<uint8_t>()},
    {"uint16", nb::dtype<uint16_t>()},
    {"uint32", nb::dtype<uint32_t>()},
    {"uint64", nb::dtype<uint64_t>()},
    {"float32", nb::dtype<float>()},
    {"float64", nb::dtype<double>()},
}};

/// Calls Halcyon without holding the interpreter, since any call may wait; raises what it returns. The message is the
/// calling thread's, and the thread stays the same.
template <class Call>
void call(Call&& function) {
    int code = HALCYON_OK;
    {
        const nb::gil_scoped_release others_run;
        code = function();
    }
    if (code != HALCYON_OK) halcyon::python::raise(code, halcyon_error_message());
}

using any_array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

class session {
  public:
    session(const std::string& config, MPI_Fint communicator) {
        call([&] { return halcyon_open_f(config.c_str(), communicator, &handle_); });
    }

    nb::tuple describe(const std::string& variable, int block) const {
        const halcyon_block_info info = info_of(variable, block);
        nb::list shape;
        for (int d = 0; d < info.rank; ++d) shape.append(info.dimensions[d]);
        return nb::make_tuple(elements.at(info.type).name, nb::tuple(shape));
    }

    void write(const std::string& variable, const any_array& data, int block) {
        static const char nothing = 0;
        const void* first = data.nbytes() == 0 ? &nothing : data.data();
        const auto bytes = static_cast<int64_t>(data.nbytes());
        call([&] { return halcyon_write_bytes(handle_, variable.c_str(), block, first, bytes); });
    }

    /// The array refers to the block; it keeps `self` alive, not the segment behind it.
    static nb::ndarray<nb::numpy> alloc(const nb::object& self, const std::string& variable, int block) {
        auto& s = nb::cast<session&>(self);
        const halcyon_block_info info = s.info_of(variable, block);
        void* data = nullptr;
        call([&] { return halcyon_alloc(s.handle_, variable.c_str(), block, &data); });
        std::array<size_t, HALCYON_MAX_DIMENSIONS> shape{};
        for (int d = 0; d < info.rank; ++d) shape[d] = static_cast<size_t>(info.dimensions[d]);
        return {data, static_cast<size_t>(info.rank), shape.data(), self, nullptr, elements.at(info.type).dtype};
    }

    void commit(const std::string& variable, int block) {
        call([&] { return halcyon_commit(handle_, variable.c_str(), block); });
    }
    void clear(const std::string& variable, int block) {
        call([&] { return halcyon_clear(handle_, variable.c_str(), block); });
    }
    void signal(const std::string& event) {
        call([&] { return halcyon_signal(handle_, event.c_str()); });
    }
    void end_iteration() {
        call([&] { return halcyon_end_iteration(handle_); });
    }
    void wait(int64_t iteration, int stage) {
        call([&] { return halcyon_wait(handle_, iteration, static_cast<halcyon_stage>(stage)); });
    }
    void set_parameter(const std::string& name, double value) {
        call([&] { return halcyon_set_parameter(handle_, name.c_str(), value); });
    }

    double get_parameter(const std::string& name) const {
        double value = 0;
        call([&] { return halcyon_get_parameter(handle_, name.c_str(), &value); });
        return value;
    }

    nb::dict stats() const {
        halcyon_stats_t s{};
        s.size_bytes = sizeof s;
        call([&] { return halcyon_stats(handle_, &s); });
        nb::dict counts;
        counts["iteration"] = s.iteration;
        counts["blocks"] = s.blocks;
        counts["bytes"] = s.bytes;
        counts["signals"] = s.signals;
        counts["visible_ns"] = s.visible_ns;
        counts["blocked_ns"] = s.blocked_ns;
        counts["skipped_blocks"] = s.skipped_blocks;
        counts["skipped_bytes"] = s.skipped_bytes;
        counts["spilled_blocks"] = s.spilled_blocks;
        counts["spilled_bytes"] = s.spilled_bytes;
        counts["inlined_blocks"] = s.inlined_blocks;
        counts["inlined_bytes"] = s.inlined_bytes;
        counts["server_restarts"] = s.server_restarts;
        counts["arena_bytes"] = s.arena_bytes;
        counts["arena_free_bytes"] = s.arena_free_bytes;
        return counts;
    }

    void close() {
        call([&] { return halcyon_close(&handle_); });
    }

  private:
    halcyon_block_info info_of(const std::string& variable, int block) const {
        halcyon_block_info info;
        call([&] { return halcyon_describe(handle_, variable.c_str(), block, &info); });
        return info;
    }

    /// Not closed on destruction: closing is collective, garbage collection is not.
    halcyon_handle handle_ = nullptr;
};

constexpr std::array<const char*, 6> operations = {"open", "close", "read", "write", "copy", "sync"};

/// What `ask` fills in, with room for `most` accesses, by the names of the members in halcyon.h.
template <class Ask>
nb::dict forecast(int64_t most, Ask ask) {
    std::vector<halcyon_expected_access> accesses(most > 0 ? static_cast<size_t>(most) : 0);
    halcyon_forecast_t f{};
    f.size_bytes = sizeof f;
    f.accesses = accesses.data();
    f.capacity = static_cast<int64_t>(accesses.size());
    call([&] { return ask(f); });
    nb::list found;
    for (int64_t i = 0; i < f.count; ++i) {
        const halcyon_expected_access& from = accesses[static_cast<size_t>(i)];
        nb::dict to;
        to["operation"] = operations.at(from.operation);
        to["new_file"] = from.new_file != 0;
        to["offset"] = from.offset;
        to["bytes"] = from.bytes;
        to["begins_s"] = from.begins_s;
        to["deviation_s"] = from.deviation_s;
        to["duration_s"] = from.duration_s;
        to["probability"] = from.probability;
        to["thread"] = from.thread;
        to["path"] = nb::bytes(from.path);
        found.append(to);
    }
    nb::dict whole;
    whole["accesses"] = found;
    whole["complete"] = f.complete != 0;
    whole["threads"] = f.threads;
    whole["threads_left_out"] = f.threads_left_out;
    whole["phase_calls_done"] = f.phase_calls_done;
    whole["phase_calls_left"] = f.phase_calls_left;
    whole["phase_bytes_left"] = f.phase_bytes_left;
    whole["phase_time_left_s"] = f.phase_time_left_s;
    whole["phase_confidence"] = f.phase_confidence;
    whole["next_phase_s"] = f.next_phase_s;
    whole["next_phase_deviation_s"] = f.next_phase_deviation_s;
    whole["next_phase_confidence"] = f.next_phase_confidence;
    whole["next_phase_earliest_s"] = f.next_phase_earliest_s;
    whole["next_phase_latest_s"] = f.next_phase_latest_s;
    whole["rest_buffer_bytes"] = f.rest_buffer_bytes;
    whole["phase_buffer_bytes"] = f.phase_buffer_bytes;
    whole["flush_in_s"] = f.flush_in_s;
    whole["flush_for_s"] = f.flush_for_s;
    return whole;
}

nb::dict next_accesses(int64_t count) {
    return forecast(count, [&](halcyon_forecast_t& f) { return halcyon_forecast(nullptr, count, &f); });
}

nb::dict accesses_within(double seconds, int64_t most) {
    return forecast(most, [&](halcyon_forecast_t& f) { return halcyon_forecast_window(nullptr, seconds, &f); });
}

std::string mpi_library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return {text.data(), static_cast<size_t>(length)};
}

}  // namespace

NB_MODULE(_client, m) {
    m.attr("MPI_FAMILY") = mpi_family;
    m.def("mpi_library_version", mpi_library_version);
    m.def("version", [] { return std::string(halcyon_version()); });
    m.def("set_parameter", [](const std::string& name, double value) {
        call([&] { return halcyon_set_parameter(nullptr, name.c_str(), value); });
    });
    m.def("next_accesses", next_accesses);
    m.def("accesses_within", accesses_within);
    nb::class_<session>(m, "Session")
        .def(nb::init<const std::string&, MPI_Fint>())
        .def("describe", &session::describe)
        .def("write", &session::write, nb::arg("variable"), nb::arg("data").noconvert(), nb::arg("block"))
        .def("alloc", [](nb::handle_t<session> self, const std::string& variable,
                         int block) { return session::alloc(nb::borrow(self), variable, block); })
        .def("commit", &session::commit)
        .def("clear", &session::clear)
        .def("signal", &session::signal)
        .def("end_iteration", &session::end_iteration)
        .def("wait", &session::wait)
        .def("set_parameter", &session::set_parameter)
        .def("get_parameter", &session::get_parameter)
        .def("stats", &session::stats)
        .def("close", &session::close);
}
