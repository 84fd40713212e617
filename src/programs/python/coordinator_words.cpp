#include "programs/python/coordinator_words.hpp"

#include <cstdint>

#include "coordinate/coordinator/counts.hpp"
#include "coordinate/coordinator/fault_counts.hpp"
#include "coordinate/coordinator/seen_state.hpp"

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
    nb::module_ made = m.def_submodule("coordinator", "Words in which a coordinator tells operators of its state.");
    made.attr("STATES") = nb::tuple(states);
    made.attr("FAULTS") = nb::tuple(faults);
}

}  // namespace halcyon::python
