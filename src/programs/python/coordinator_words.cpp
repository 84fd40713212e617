#include "programs/python/coordinator_words.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>

#include "coordinate/coordinator/counts.hpp"
#include "coordinate/coordinator/fault_counts.hpp"
#include "coordinate/coordinator/seen_state.hpp"
#include "coordinate/page/node_name.hpp"
#include "coordinate/page/page.hpp"
#include "coordinate/protocol/fields.hpp"

namespace nb = nanobind;

namespace halcyon::python {

void add_coordinator_words(nb::module_& m) {
    using coordinate::seen_state;
    nb::list states, faults;
    for (uint8_t i = 0; i < static_cast<uint8_t>(seen_state::count); ++i)
        states.append(coordinate::name_of(static_cast<seen_state>(i)));
    coordinate::each_count(coordinate::counts{}, [&](const char* name, auto, const char*) {
        if (coordinate::is_fault(name)) faults.append(name);
    });
    nb::module_ made = m.def_submodule(
        "coordinator", "Words in which a coordinator tells operators of its state, and limits of jobs.");
    made.attr("STATES") = nb::tuple(states);
    made.attr("FAULTS") = nb::tuple(faults);
    made.attr("MOST_PATHS") = coordinate::process_slot::most_file_systems;
    made.attr("LONGEST_PATH") = coordinate::shared_file_system::longest_path - 1;
    made.attr("MOST_PROCESSES") = coordinate::page::most_processes;
    made.attr("LONGEST_ACCOUNT") = coordinate::longest_name;
    made.def(
        "node_name", [] { return coordinate::node_name(host_name(), node_identity::of_this_process()); },
        "By which agents of this node name their files.");
}

}  // namespace halcyon::python
