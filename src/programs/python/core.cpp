// halcyon._core: what the command line needs of the C++ rooms. Never links MPI.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text_file.hpp"
#include "offload/model/describe.hpp"
#include "offload/store/store.hpp"
#include "programs/python/raise.hpp"

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

int64_t rebuild_view(const std::string& directory, const std::string& store_type) {
    const nb::gil_scoped_release others_run;
    const run_description run = read_run(directory);
#ifdef HALCYON_BUILT_MODULES
    // In a build tree this module lies beside the Python sources, not beside the store modules. A user's path wins.
    ::setenv("HALCYON_MODULE_PATH", HALCYON_BUILT_MODULES, 0);
#endif
    const auto module = halcyon::offload::load_store_module(store_type).value();
    const std::unique_ptr<halcyon::offload::view_builder> view(
        module.make_view_builder(directory.c_str(), run.simulation.c_str()));
    return view->rebuild(run.writers).value();
}

std::string check(const std::string& path, int ranks) {
    return halcyon::offload::describe_configuration(path, ranks).value();
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
    m.def("rebuild_view", rebuild_view, nb::arg("directory"), nb::arg("store_type") = "hdf5",
          "Replaces the view over a run's files; returns how many iterations it shows.");
    m.def("check", check, nb::arg("path"), nb::arg("ranks") = 0,
          "Parses a configuration, for `ranks` processes where > 0; returns a line that says what is in it.");
}
