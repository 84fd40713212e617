// The decision who does I/O, of halcyon._core: the types and functions of src/policy, under the names they have there.
#include "programs/python/policy.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/decide.hpp"
#include "policy/interference.hpp"
#include "policy/ledger.hpp"
#include "policy/unseen_writer.hpp"

namespace nb = nanobind;

namespace halcyon::python {

namespace {

using applications = std::vector<policy::application>;

void add_names(nb::module_& m) {
    nb::enum_<policy::movement>(m, "Movement")
        .value("COMPUTING", policy::movement::computing)
        .value("EXPECTED", policy::movement::expected)
        .value("WAITING", policy::movement::waiting)
        .value("MOVING", policy::movement::moving)
        .value("INTERRUPTED", policy::movement::interrupted);
    nb::enum_<policy::rule>(m, "Rule")
        .value("INTERFERE", policy::rule::interfere)
        .value("FCFS", policy::rule::fcfs)
        .value("INTERRUPT", policy::rule::interrupt)
        .value("DELAY", policy::rule::delay)
        .value("FAIR_SHARE", policy::rule::fair_share)
        .value("SET_10", policy::rule::set_10)
        .value("DYNAMIC", policy::rule::dynamic);
    nb::enum_<policy::metric>(m, "Metric")
        .value("SUM_OF_TIMES", policy::metric::sum_of_times)
        .value("SUM_OF_INTERFERENCE_FACTORS", policy::metric::sum_of_interference_factors)
        .value("CPU_HOURS", policy::metric::cpu_hours)
        .value("ENERGY", policy::metric::energy);
    m.def("name_of", nb::overload_cast<policy::rule>(policy::name_of), nb::arg("rule"));
    m.def("name_of", nb::overload_cast<policy::metric>(policy::name_of), nb::arg("metric"));
}

void add_application(nb::module_& m) {
    nb::class_<policy::application>(m, "Application")
        .def(nb::init<>())
        .def_rw("id", &policy::application::id)
        .def_rw("state", &policy::application::state)
        .def_rw("processes", &policy::application::processes)
        .def_rw("nodes", &policy::application::nodes)
        .def_rw("watts_per_node", &policy::application::watts_per_node)
        .def_rw("account", &policy::application::account)
        .def_rw("account_weight", &policy::application::account_weight)
        .def_rw("bytes_left", &policy::application::bytes_left)
        .def_rw("alone_s", &policy::application::alone_s)
        .def_rw("left_s", &policy::application::left_s)
        .def_rw("arrived_s", &policy::application::arrived_s)
        .def_rw("probability", &policy::application::probability)
        .def_prop_rw(
            "targets", [](const policy::application& of) { return of.targets; },
            [](policy::application& of, std::vector<uint32_t> targets) {
                std::ranges::sort(targets);
                of.targets = std::move(targets);
            })
        .def_rw("demand", &policy::application::demand)
        .def_rw("weight", &policy::application::weight)
        .def_rw("since_s", &policy::application::since_s)
        .def_rw("waited_s", &policy::application::waited_s)
        .def_rw("between_starts_s", &policy::application::between_starts_s);
    m.def("set_of", policy::set_of, nb::arg("application"), "Its set under set-10 (Boito et al. 2023).");
}

void add_learning(nb::module_& m) {
    nb::class_<policy::interference>(m, "Interference")
        .def(nb::init<>())
        .def("observe",
             nb::overload_cast<const policy::application&, const policy::application&, double>(
                 &policy::interference::observe),
             nb::arg("one"), nb::arg("other"), nb::arg("speed"))
        .def(
            "slow_down",
            [](const policy::interference& of, const policy::application& one, const policy::application& other) {
                return of.between(one, other).first;
            },
            nb::arg("one"), nb::arg("other"))
        .def("observations", &policy::interference::observations, nb::arg("one"), nb::arg("other"))
        .def("forget", &policy::interference::forget, nb::arg("one"));
    nb::class_<policy::unseen_writer>(m, "UnseenWriter")
        .def(nb::init<>())
        .def("observe", &policy::unseen_writer::observe, nb::arg("expected"), nb::arg("measured"))
        .def("share", &policy::unseen_writer::share);
    nb::class_<policy::ledger>(m, "Ledger")
        .def(nb::init<double>(), nb::arg("half_life_s") = 60.0)
        .def("charge", &policy::ledger::charge, nb::arg("key"), nb::arg("turn_s"), nb::arg("now_s"))
        .def("used_s", &policy::ledger::used_s, nb::arg("key"), nb::arg("now_s"));
}

void add_decision(nb::module_& m) {
    nb::class_<policy::settings>(m, "Settings")
        .def(nb::init<>())
        .def_rw("starvation_s", &policy::settings::starvation_s)
        .def_rw("relief_s", &policy::settings::relief_s)
        .def_rw("slice_s", &policy::settings::slice_s)
        .def_rw("interruption_s", &policy::settings::interruption_s)
        .def_rw("least_gain", &policy::settings::least_gain)
        .def_rw("all_begin_within_s", &policy::settings::all_begin_within_s)
        .def_rw("interrupts_after_s", &policy::settings::interrupts_after_s)
        .def_rw("tolerated_factor", &policy::settings::tolerated_factor)
        .def_rw("least_probability", &policy::settings::least_probability)
        .def_rw("search_positions", &policy::settings::search_positions)
        .def_rw("ask_again_s", &policy::settings::ask_again_s);
    nb::class_<policy::alternative>(m, "Alternative")
        .def_ro("way", &policy::alternative::way)
        .def_ro("cost", &policy::alternative::cost);
    nb::class_<policy::group_decision>(m, "GroupDecision")
        .def_prop_ro("why", [](const policy::group_decision& of) { return policy::name_of(of.why); })
        .def_ro("applications", &policy::group_decision::applications)
        .def_ro("expected", &policy::group_decision::expected)
        .def_ro("first_id", &policy::group_decision::first_id)
        .def_ro("alternatives_begin", &policy::group_decision::alternatives_begin)
        .def_ro("alternatives_end", &policy::group_decision::alternatives_end);
    nb::class_<policy::decision>(m, "Decision")
        .def_ro("move", &policy::decision::move)
        .def_ro("stop", &policy::decision::stop)
        .def_ro("ask_again_s", &policy::decision::ask_again_s)
        .def_ro("groups", &policy::decision::groups)
        .def_ro("alternatives", &policy::decision::alternatives);
    m.def(
        "decide",
        [](const applications& all, policy::rule by, policy::metric minimise, double now_s,
           const policy::interference* learned, const policy::ledger* accounts, const policy::ledger* sets,
           double unseen_share, const policy::settings& how) {
            return policy::decide({all, learned, accounts, sets, unseen_share}, by, minimise, now_s, how);
        },
        nb::arg("applications"), nb::arg("rule"), nb::arg("metric"), nb::arg("now_s"), nb::kw_only(),
        nb::arg("learned") = nb::none(), nb::arg("accounts") = nb::none(), nb::arg("sets") = nb::none(),
        nb::arg("unseen_share") = 0.0, nb::arg("settings") = policy::settings{},
        "Who moves now, who stops, and when to ask again at the latest.");
}

}  // namespace

void add_policy(nb::module_& m) {
    nb::module_ made = m.def_submodule("policy", "Who does I/O at a shared file system; units are in the names.");
    add_names(made);
    add_application(made);
    add_learning(made);
    add_decision(made);
}

}  // namespace halcyon::python
