// The closed-form models of halcyon._core: the functions of src/models, under the names they have there.
#include "programs/python/models.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "models/collisions.hpp"
#include "models/concurrency.hpp"
#include "models/dedication.hpp"
#include "models/interference.hpp"
#include "models/stripes.hpp"

namespace nb = nanobind;

namespace halcyon::python {

namespace {

using numbers = std::vector<double>;

void add_stripes(nb::module_& m) {
    nb::class_<models::expected_load>(m, "ExpectedLoad")
        .def_ro("requested", &models::expected_load::requested)
        .def_ro("in_use", &models::expected_load::in_use)
        .def_ro("load", &models::expected_load::load);
    m.def(
        "load_of_jobs", [](int64_t targets, const numbers& stripes) { return models::load_of_jobs(targets, stripes); },
        nb::arg("targets"), nb::arg("stripes"), "Wright 2014, eq. 6.1, 6.3, 6.4: one request per job.");
    m.def("load_of_equal_jobs", models::load_of_equal_jobs, nb::arg("targets"), nb::arg("stripes"), nb::arg("jobs"),
          "Wright 2014, eq. 6.2 to 6.6: `jobs` requests of `stripes` targets.");
    m.def("ranks_at_load", models::ranks_at_load, nb::arg("targets"), nb::arg("stripes"), nb::arg("load"),
          nb::arg("ranks_per_node") = 1, "The least number of ranks whose logs bring the load to `load`.");
    m.def("request_for_load", models::request_for_load, nb::arg("targets"), nb::arg("jobs"), nb::arg("load"),
          "The largest request with which `jobs` equal jobs keep the load.");
    m.def(
        "targets_for_load", [](const numbers& stripes, double load) { return models::targets_for_load(stripes, load); },
        nb::arg("stripes"), nb::arg("load"), "The fewest targets with which these jobs keep the load.");
    m.def(
        "jobs_on_a_target",
        [](int64_t targets, const numbers& stripes) { return models::jobs_on_a_target(targets, stripes); },
        nb::arg("targets"), nb::arg("stripes"), "Element k: the probability that k jobs use a target.");
    m.def(
        "targets_in_use",
        [](int64_t targets, const numbers& stripes) { return models::targets_in_use(targets, stripes); },
        nb::arg("targets"), nb::arg("stripes"), "Element u: the probability that u targets are in use.");
}

void add_concurrency(nb::module_& m) {
    m.def(
        "running_at_once",
        [](const numbers& starts_s, const numbers& ends_s) { return models::running_at_once(starts_s, ends_s); },
        nb::arg("starts_s"), nb::arg("ends_s"), "Element n: the share of the time during which n applications run.");
    m.def(
        "in_io_at_once",
        [](const numbers& at_once, double io_share) { return models::in_io_at_once(at_once, io_share); },
        nb::arg("at_once"), nb::arg("io_share"), "Dorier 2014, eq. 6.1: element k is the probability of k in I/O.");
    m.def(
        "probability_of_two",
        [](const numbers& at_once, double io_share) { return models::probability_of_two(at_once, io_share); },
        nb::arg("at_once"), nb::arg("io_share"), "Dorier 2014, eq. 6.2: two applications or more are in I/O.");
    m.def(
        "probability_of_another",
        [](const numbers& at_once, double io_share) { return models::probability_of_another(at_once, io_share); },
        nb::arg("at_once"), nb::arg("io_share"), "An application that starts its I/O finds another one in I/O.");
    m.def("probability_of_start_within", models::probability_of_start_within, nb::arg("alone_s"), nb::arg("window_s"),
          "Dorier 2014, eq. 6.3: B starts while A writes.");
    nb::enum_<models::file_use>(m, "FileUse")
        .value("SHARED", models::file_use::shared)
        .value("ONE_PER_RANK", models::file_use::one_per_rank)
        .value("LOGS", models::file_use::logs);
    m.def("files_created", models::files_created, nb::arg("use"), nb::arg("ranks"), "Files that so many ranks create.");
}

void add_interference(nb::module_& m) {
    nb::class_<models::io_phase>(m, "IoPhase")
        .def(
            "__init__",
            [](models::io_phase* self, double alone_s, double demand, double weight, double cores) {
                new (self) models::io_phase{alone_s, demand, weight, cores};
            },
            nb::arg("alone_s"), nb::kw_only(), nb::arg("demand") = 1.0, nb::arg("weight") = 1.0, nb::arg("cores") = 1.0)
        .def_ro("alone_s", &models::io_phase::alone_s)
        .def_ro("demand", &models::io_phase::demand)
        .def_ro("weight", &models::io_phase::weight)
        .def_ro("cores", &models::io_phase::cores);
    nb::enum_<models::arbitration>(m, "Arbitration")
        .value("INTERFERE", models::arbitration::interfere)
        .value("FCFS", models::arbitration::fcfs)
        .value("INTERRUPT", models::arbitration::interrupt);
    m.def(
        "expected_times",
        [](const models::io_phase& a, const models::io_phase& b, double delta_s, models::arbitration way) {
            const models::phase_times times = models::expected_times(a, b, delta_s, way);
            return std::pair(times.a_s, times.b_s);
        },
        nb::arg("a"), nb::arg("b"), nb::arg("delta_s"), nb::arg("way"), "One point of a delta-graph, in s: (A, B).");
    m.def("core_seconds", models::core_seconds, nb::arg("a"), nb::arg("b"), nb::arg("delta_s"), nb::arg("way"),
          "Dorier 2014, eq. 6.4: core seconds in I/O.");
    m.def("interruption_pays_before", models::interruption_pays_before, nb::arg("a"), nb::arg("b"),
          "Dorier 2014, eq. 6.5: the latest start of B, in s after A, with which it should interrupt A.");
}

void add_dedication(nb::module_& m) {
    nb::class_<models::dedication>(m, "Dedication")
        .def_ro("standard_s", &models::dedication::standard_s)
        .def_ro("dedicated_s", &models::dedication::dedicated_s)
        .def_prop_ro("pays", &models::dedication::pays);
    m.def("dedicate_one_core", models::dedicate_one_core, nb::arg("compute_s"), nb::arg("write_s"),
          nb::arg("dedicated_write_s"), nb::arg("cores_per_node"), "Dorier 2014, eq. 3.2 and 3.3.");
    nb::class_<models::least_io>(m, "LeastIo")
        .def_ro("over_computation", &models::least_io::over_computation)
        .def_ro("share_of_time", &models::least_io::share_of_time);
    m.def("least_io_to_dedicate", models::least_io_to_dedicate, nb::arg("cores_per_node"),
          "The least I/O with which a dedicated core pays.");
    nb::class_<models::scaled_run>(m, "ScaledRun")
        .def(
            "__init__",
            [](models::scaled_run* self, double base_s, int64_t iterations, int64_t cores, double core_efficiency,
               int64_t nodes, double node_efficiency) {
                new (self) models::scaled_run{base_s, iterations, cores, core_efficiency, nodes, node_efficiency};
            },
            nb::kw_only(), nb::arg("base_s"), nb::arg("iterations"), nb::arg("cores"), nb::arg("core_efficiency"),
            nb::arg("nodes"), nb::arg("node_efficiency"))
        .def_prop_ro("run_time_s", &models::run_time_s);
    m.def(
        "mean_power_w",
        [](double max_w, double idle_w, int64_t compute_nodes, int64_t dedicated_nodes) {
            return models::mean_power_w({max_w, idle_w}, compute_nodes, dedicated_nodes);
        },
        nb::arg("max_w"), nb::arg("idle_w"), nb::arg("compute_nodes"), nb::arg("dedicated_nodes"),
        "Dorier 2014, eq. 5.3 and 5.4: mean power of a node.");
    m.def(
        "energy_j",
        [](const models::scaled_run& run, double max_w, double idle_w, int64_t dedicated_nodes) {
            return models::energy_j(run, {max_w, idle_w}, dedicated_nodes);
        },
        nb::arg("run"), nb::arg("max_w"), nb::arg("idle_w"), nb::arg("dedicated_nodes"),
        "Dorier 2014, eq. 5.1: energy of all nodes.");
}

}  // namespace

void add_models(nb::module_& m) {
    nb::module_ models = m.def_submodule("models", "Closed-form models; units are in the names, sources in the docs.");
    add_stripes(models);
    add_concurrency(models);
    add_interference(models);
    add_dedication(models);
}

}  // namespace halcyon::python
