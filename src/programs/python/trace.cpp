// The traces of halcyon._core: one process' calls as columns.
#include "programs/python/trace.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "observe/trace/trace_reader.hpp"

namespace nb = nanobind;

namespace halcyon::python {
namespace {

using calls::call_record;
using observe::trace::trace_reader;

template <class Value>
nb::object values_of(const std::vector<call_record>& records, Value call_record::*member) {
    const size_t count = records.size();
    auto* values = new Value[count];
    for (size_t i = 0; i < count; ++i) values[i] = records[i].*member;
    const nb::capsule owner(values, [](void* held) noexcept { delete[] static_cast<Value*>(held); });
    return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values, {count}, owner));
}

nb::dict chunk(const trace_reader& reader, size_t index) {
    std::vector<call_record> records;
    {
        const nb::gil_scoped_release others_run;
        records = reader.chunk(index);
    }
    nb::dict columns;
    columns["start"] = values_of(records, &call_record::start);
    columns["duration"] = values_of(records, &call_record::duration);
    columns["wait"] = values_of(records, &call_record::wait);
    columns["offset"] = values_of(records, &call_record::offset);
    columns["bytes"] = values_of(records, &call_record::bytes);
    columns["moved"] = values_of(records, &call_record::moved);
    columns["result"] = values_of(records, &call_record::result);
    columns["argument"] = values_of(records, &call_record::argument);
    columns["file"] = values_of(records, &call_record::file);
    columns["thread"] = values_of(records, &call_record::thread);
    columns["number"] = values_of(records, &call_record::number);
    columns["parent"] = values_of(records, &call_record::parent);
    columns["function"] = values_of(records, &call_record::function);
    columns["context"] = values_of(records, &call_record::context);
    columns["error"] = values_of(records, &call_record::error);
    return columns;
}

nb::dict functions(const trace_reader& reader) {
    nb::dict all;
    for (const auto& [id, function] : reader.functions) {
        all[nb::int_(id)] = nb::make_tuple(function.name, calls::level_names[static_cast<size_t>(function.level)],
                                           calls::kind_names[static_cast<size_t>(function.kind)]);
    }
    return all;
}

nb::list files(const trace_reader& reader) {
    nb::list all;
    for (const auto& file : reader.files) {
        all.append(
            nb::make_tuple(file.id, nb::bytes(file.path.data(), file.path.size()), file.block_bytes, file.filesystem));
    }
    return all;
}

nb::list facts(const trace_reader& reader) {
    nb::list all;
    for (const auto& fact : reader.facts) {
        all.append(nb::make_tuple(fact.file, fact.time_ns, nb::bytes(fact.key.data(), fact.key.size()),
                                  nb::bytes(fact.value.data(), fact.value.size())));
    }
    return all;
}

nb::list absences(const trace_reader& reader) {
    nb::list all;
    for (const auto& absence : reader.absences) all.append(nb::make_tuple(absence.subject, absence.count));
    return all;
}

std::optional<std::string> ended(const trace_reader& reader) {
    constexpr const char* names[] = {"exit", "exec", "abort"};
    if (!reader.ended) return std::nullopt;
    return names[static_cast<size_t>(*reader.ended)];
}

nb::bytes as_bytes(const std::string& text) {
    return nb::bytes(text.data(), text.size());
}

}  // namespace

void add_trace_reader(nb::module_& m) {
    nb::class_<trace_reader>(m, "TraceReader")
        .def(
            "__init__",
            [](trace_reader* self, const nb::bytes& path, bool salvage) {  // names of files need not be UTF-8
                const std::string name(path.c_str(), path.size());
                const nb::gil_scoped_release others_run;
                new (self) trace_reader(name, salvage);
            },
            nb::arg("path"), nb::arg("salvage") = false)
        .def_ro("pid", &trace_reader::pid)
        .def_ro("parent_pid", &trace_reader::parent_pid)
        .def_prop_ro("host", [](const trace_reader& r) { return as_bytes(r.host); })
        .def_prop_ro("program", [](const trace_reader& r) { return as_bytes(r.program); })
        .def_prop_ro("command", [](const trace_reader& r) { return as_bytes(r.command); })
        .def_prop_ro("clock", [](const trace_reader& r) { return as_bytes(r.clock); })
        .def_ro("start_ns", &trace_reader::start_ns)
        .def_ro("start_realtime_ns", &trace_reader::start_realtime_ns)
        .def_ro("end_ns", &trace_reader::end_ns)
        .def_prop_ro("ended", ended)
        .def_ro("lost", &trace_reader::lost)
        .def_prop_ro("functions", functions)
        .def_prop_ro("files", files)
        .def_prop_ro("facts", facts)
        .def_prop_ro("absences", absences)
        .def_ro("damages", &trace_reader::damages)
        .def_prop_ro("chunk_count", &trace_reader::chunk_count)
        .def("chunk", chunk, nb::arg("index"));
}

}  // namespace halcyon::python
