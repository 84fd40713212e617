// halcyon._core: what the command line needs of the C++ rooms. Never links MPI.

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text_file.hpp"
#include "offload/check/configuration_check.hpp"
#include "offload/store/store.hpp"
#include "programs/python/call_table.hpp"
#include "programs/python/coordinator_words.hpp"
#include "programs/python/listener_check.hpp"
#include "programs/python/models.hpp"
#include "programs/python/policy.hpp"
#include "programs/python/raise.hpp"
#include "programs/python/replay.hpp"
#include "programs/python/saved_models.hpp"
#include "programs/python/trace.hpp"

namespace nb = nanobind;
namespace fs = std::filesystem;

namespace {

/// What of run.json (docs/run-directory.md) the view needs.
struct run_description {
    std::string simulation;
    std::vector<std::string> writers;
};

run_description read_run(const fs::path& directory) {
    const fs::path path = directory / "run.json";
    try {
        const auto run = nlohmann::json::parse(halcyon::read_text_file(path.string()).value());
        return {run.at("simulation"), run.at("writers")};
    } catch (const nlohmann::json::exception& e) {
        throw halcyon::error(halcyon::error_kind::config, path.string() + ": " + e.what());
    }
}

/// In a build tree this module lies beside the Python sources, not beside the store modules. A user's path wins.
void find_built_modules() {
#ifdef HALCYON_BUILT_MODULES
    ::setenv("HALCYON_MODULE_PATH", HALCYON_BUILT_MODULES, 0);
#endif
}

struct rebuilt_view {
    int64_t iterations = 0;
    std::vector<std::string> remarks;
};

rebuilt_view rebuild_view(const std::string& directory, const std::string& store_type) {
    const nb::gil_scoped_release others_run;
    const run_description run = read_run(directory);
    find_built_modules();
    const auto module = halcyon::offload::load_store_module(store_type).value();
    if (!module.traits.has_view())
        throw halcyon::error(halcyon::error_kind::usage, "stores of type '" + store_type + "' have no view");
    const std::unique_ptr<halcyon::offload::view_builder> view(
        module.make_view_builder(directory.c_str(), run.simulation.c_str()));
    rebuilt_view done;
    done.iterations = view->rebuild(run.writers).value();
    done.remarks = view->remarks();
    return done;
}

halcyon::offload::configuration_check check(const std::string& path, int ranks, int ranks_per_node,
                                            const std::map<std::string, double>& parameters) {
    const nb::gil_scoped_release others_run;
    find_built_modules();
    return halcyon::offload::check_configuration(path, {ranks, ranks_per_node, parameters}).value();
}

}  // namespace

NB_MODULE(_core, m) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const halcyon::error& e) {
            try {
                halcyon::python::raise(static_cast<int>(e.kind()), e.what());
            } catch (nb::python_error& as_python) {
                as_python.restore();
            }
        }
    });
    nb::class_<rebuilt_view>(m, "RebuiltView")
        .def_ro("iterations", &rebuilt_view::iterations)
        .def_ro("remarks", &rebuilt_view::remarks);
    m.def("rebuild_view", rebuild_view, nb::arg("directory"), nb::arg("store_type") = "hdf5",
          "Replaces the view over a run's files; says how many iterations it shows, and what is amiss with it.");
    using halcyon::offload::configuration_check;
    nb::class_<configuration_check>(m, "ConfigurationCheck")
        .def_ro("summary", &configuration_check::summary)
        .def_ro("refusals", &configuration_check::refusals)
        .def_ro("warnings", &configuration_check::warnings)
        .def_ro("verdict", &configuration_check::verdict);
    m.def("check", check, nb::arg("path"), nb::arg("ranks") = 0, nb::arg("ranks_per_node") = 0,
          nb::arg("parameters") = std::map<std::string, double>{},
          "Reads a configuration, for `ranks` processes where > 0, and says what `open` would refuse.");
    halcyon::python::add_call_table(m);
    halcyon::python::add_trace_reader(m);
    halcyon::python::add_replay(m);
    halcyon::python::add_saved_models(m);
    halcyon::python::add_models(m);
    halcyon::python::add_policy(m);
    halcyon::python::add_coordinator_words(m);
    halcyon::python::add_listener_check(m);
}
