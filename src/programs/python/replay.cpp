// The replays of halcyon._core: recorded calls in columns, scores of their forecasts in columns.
#include "programs/python/replay.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/replace_file.hpp"
#include "predict/model/model_file.hpp"
#include "predict/score/replay.hpp"
#include "programs/python/python_text.hpp"

namespace nb = nanobind;

namespace halcyon::python {
namespace {

using predict::call_score;
using predict::model;

template <class Value>
using column = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A thread's calls, in the order of their ends.
struct call_columns {
    column<uint32_t> context;
    column<uint32_t> function;
    column<uint8_t> operation;
    column<uint8_t> truncates;
    column<uint32_t> file;
    column<int64_t> offset, bytes, moved, start_ns, wait_ns, duration_ns;

    explicit call_columns(const nb::dict& columns)
        : context(of<uint32_t>(columns, "context")),
          function(of<uint32_t>(columns, "function")),
          operation(of<uint8_t>(columns, "operation")),
          truncates(of<uint8_t>(columns, "truncates")),
          file(of<uint32_t>(columns, "file")),
          offset(of<int64_t>(columns, "offset")),
          bytes(of<int64_t>(columns, "bytes")),
          moved(of<int64_t>(columns, "moved")),
          start_ns(of<int64_t>(columns, "start_ns")),
          wait_ns(of<int64_t>(columns, "wait_ns")),
          duration_ns(of<int64_t>(columns, "duration_ns")) {
        for (const size_t rows : {function.size(), operation.size(), truncates.size(), file.size(), offset.size(),
                                  bytes.size(), moved.size(), start_ns.size(), wait_ns.size(), duration_ns.size()}) {
            if (rows != context.size()) throw error(error_kind::usage, "columns of a replay differ in length");
        }
        for (size_t i = 0; i < operation.size(); ++i) {
            if (operation(i) > static_cast<uint8_t>(policy::operation::sync))
                throw error(error_kind::usage, "operation " + std::to_string(operation(i)) + " in row " +
                                                   std::to_string(i) + ": there are 0 to 5");
        }
    }

    template <class Value>
    static column<Value> of(const nb::dict& columns, const char* name) {
        if (!columns.contains(name)) throw error(error_kind::usage, std::string("no column '") + name + "'");
        return nb::cast<column<Value>>(columns[name]);
    }

    [[nodiscard]] predict::observed_call at(size_t i) const {
        return {context(i),        function(i),
                truncates(i) != 0, {static_cast<policy::operation>(operation(i)), file(i), offset(i), bytes(i)},
                moved(i),          start_ns(i),
                wait_ns(i),        duration_ns(i)};
    }
};

template <class Value, class Of>
nb::object gathered(const std::vector<call_score>& scores, Of of) {
    auto values = std::make_unique<Value[]>(scores.size());
    for (size_t i = 0; i < scores.size(); ++i) values[i] = static_cast<Value>(of(scores[i]));
    Value* const held = values.release();
    const nb::capsule owner(held, [](void* array) noexcept { delete[] static_cast<Value*>(array); });
    return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(held, {scores.size()}, owner));
}

nb::dict columns_of(const std::vector<call_score>& scores) {
    nb::dict columns;
    const auto add = [&](const std::string& name, auto of) { columns[name.c_str()] = gathered<float>(scores, of); };
    const auto add_weighed = [&](const std::string& name, call_score::weighed call_score::*member) {
        add(name, [member](const call_score& s) { return (s.*member).likely; });
        add(name + "_even", [member](const call_score& s) { return (s.*member).even; });
    };
    add_weighed("context", &call_score::context);
    add_weighed("size_error", &call_score::size_error);
    add_weighed("offset", &call_score::offset);
    add_weighed("hit", &call_score::hit);
    add("file", [](const call_score& s) { return s.file; });
    add("forecasts", [](const call_score& s) { return s.forecasts; });
    columns["gap_observed_ns"] = gathered<double>(scores, [](const call_score& s) { return s.gap_observed_ns; });
    columns["gap_expected_ns"] = gathered<double>(scores, [](const call_score& s) { return s.gap_expected_ns; });
    columns["symbol"] = gathered<uint32_t>(scores, [](const call_score& s) { return s.symbol; });
    columns["grammar_runs"] = gathered<uint32_t>(scores, [](const call_score& s) { return s.grammar_runs; });
    for (uint32_t n = 0; n < predict::naive_predictors; ++n) {
        const std::string name = std::string(predict::naive_names[n]) + ".";
        add(name + "context", [n](const call_score& s) { return s.naive[n].context; });
        add(name + "size_error", [n](const call_score& s) { return s.naive[n].size_error; });
        add(name + "offset", [n](const call_score& s) { return s.naive[n].offset; });
        add(name + "hit", [n](const call_score& s) { return s.naive[n].hit; });
        columns[(name + "gap_expected_ns").c_str()] =
            gathered<double>(scores, [n](const call_score& s) { return s.naive[n].gap_expected_ns; });
    }
    return columns;
}

/// A replay with the memory of its names.
class held_replay {
  public:
    held_replay(const model::settings& settings, std::vector<std::string> paths)
        : paths_(std::move(paths)), replay_(settings, names_memory_) {}

    nb::dict score(const nb::dict& columns) {
        const call_columns calls(columns);
        std::vector<call_score> scores(calls.context.size());
        {
            const nb::gil_scoped_release others_run;
            for (size_t i = 0; i < scores.size(); ++i) {
                const predict::observed_call call = calls.at(i);
                const bool named = call.what.file < paths_.size();
                scores[i] = replay_.score(call, named ? std::string_view(paths_[call.what.file]) : std::string_view());
            }
        }
        return columns_of(scores);
    }

    nb::dict state() {
        model& learnt = replay_.learnt();
        const predict::grammar& grammar = learnt.main().model();
        const policy::expected_period period = learnt.period();
        nb::dict result;
        result["calls"] = learnt.calls();
        result["symbols"] = learnt.symbols().named();
        result["transitions"] = learnt.transitions().named();
        result["file_classes"] = learnt.names().classes();
        result["grammar_runs"] = grammar.size();
        result["grammar_rules"] = grammar.rules();
        result["grammar_full"] = grammar.full();
        result["unlearned"] = learnt.unlearned() + grammar.unlearned();
        result["memory_bytes"] = learnt.bytes_used() + names_memory_.used();
        result["memory_peak_bytes"] = learnt.bytes_peak() + names_memory_.peak();
        result["phases"] = learnt.bursts().completed();
        result["pause_ns"] = learnt.bursts().pause_ns();
        result["next_phase_ns"] = period.next_in_ns;
        result["next_phase_deviation_ns"] = period.deviation_ns;
        result["next_phase_confidence"] = period.confidence;
        result["next_phase_earliest_ns"] = period.earliest_ns;
        result["next_phase_latest_ns"] = period.latest_ns;
        return result;
    }

    void save(const nb::object& path, const std::map<uint32_t, std::string>& functions,
              const std::map<uint32_t, std::string>& contexts) {
        calls::memory_bound memory(SIZE_MAX);
        predict::label_table labels(memory);
        using subject = predict::label_table::subject;
        bool room = true;
        for (const auto& [number, name] : functions) room = labels.name(subject::function, number, name) && room;
        for (const auto& [number, stack] : contexts) room = labels.name(subject::context, number, stack) && room;
        const std::array<const model*, 1> learnt{&replay_.learnt()};
        const predict::process_models all{replay_.names(), labels, learnt};
        std::string bytes(saved_bytes(all), '\0');
        const std::span out(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size());
        const std::string name = path_of(path);
        if (!room || !predict::save(all, out)) throw error(error_kind::system, name + ": no memory to write the model");
        replace_file(name, bytes).value();
    }

  private:
    std::vector<std::string> paths_;
    calls::memory_bound names_memory_{SIZE_MAX};
    predict::replay replay_;
};

}  // namespace

void add_replay(nb::module_& m) {
    m.def(
        "call_name_number", [](const std::string& name) { return predict::call_name_number(name); }, nb::arg("name"),
        "The number that models have for a function.");
    nb::class_<held_replay>(m, "Replay", "Lets a model learn one recorded thread, and scores every forecast.")
        .def(
            "__init__",
            [](held_replay* place, std::vector<std::string> paths, size_t memory_bytes, uint32_t distinct_values,
               uint32_t file_classes, int64_t least_pause_ns, unsigned cursors) {
                model::settings settings;
                settings.bound_bytes = memory_bytes;
                settings.cut_off = {distinct_values, file_classes};
                settings.least_pause_ns = least_pause_ns;
                settings.cursors = cursors;
                new (place) held_replay(settings, std::move(paths));
            },
            nb::arg("paths"), nb::kw_only(), nb::arg("memory_bytes") = model::settings{}.bound_bytes,
            nb::arg("distinct_values") = predict::limits{}.distinct_values,
            nb::arg("file_classes") = predict::limits{}.file_classes,
            nb::arg("least_pause_ns") = model::settings{}.least_pause_ns,
            nb::arg("cursors") = model::settings{}.cursors,
            "`paths`: of the files, by their numbers. The settings are those of the layer `predict`.")
        .def("score", &held_replay::score, nb::arg("columns"),
             "The thread's next calls, as columns, in the order in which they ended; returns their scores as columns.")
        .def("state", &held_replay::state,
             "What the model has become: counts, memory in bytes, and its forecast of the next phase.")
        .def("save", &held_replay::save, nb::arg("path"), nb::arg("functions"), nb::arg("contexts"),
             "Writes the model into a file, whole, as the layer `predict` does; with names of functions and call "
             "stacks by their numbers.");
}

}  // namespace halcyon::python
