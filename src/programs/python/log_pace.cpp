// The pace of halcyon._logfs: how fast, and in whose turn, containers are worked on.
#include "programs/python/log_pace.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "programs/turns_of_job.hpp"

namespace nb = nanobind;

namespace halcyon::python {

log_pace::log_pace(double bytes_per_s, bool takes_turns)
    : turns_(takes_turns ? turns_of_job() : std::make_unique<no_turns>()), pace_(*turns_, bytes_per_s) {}

void add_log_pace(nb::module_& m) {
    nb::class_<log_pace>(m, "Pace")
        .def(nb::init<double, bool>(), nb::kw_only(), nb::arg("bytes_per_s"), nb::arg("takes_turns"),
             "Takes turns as HALCYON_COORDINATORS, HALCYON_AGENT and HALCYON_JOB say now.")
        .def("take_remarks", &log_pace::take_remarks);
}

}  // namespace halcyon::python
