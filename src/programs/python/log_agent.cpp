// The background of halcyon._logfs: how halcyon-log-agent is started.
#include "programs/python/log_agent.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/detached_start.hpp"
#include "programs/python/log_calls.hpp"

namespace nb = nanobind;

namespace halcyon::python {
namespace {

/// `variables`: "NAME=value", in place of what the environment of this process says. What belongs to a job of MPI, or
/// loads code into programs, stays behind.
void start_agent(const nb::object& program, std::vector<std::string> arguments, std::vector<std::string> variables,
                 int patience_ms) {
    detached_program agent{system_path(program), std::move(arguments), std::move(variables)};
    const size_t given = agent.environment.size();
    for (std::string& entry : environment_outside_job()) {
        const std::string_view name = std::string_view(entry).substr(0, entry.find('=') + 1);
        bool is_given = false;
        for (size_t i = 0; i < given; ++i) is_given |= agent.environment[i].starts_with(name);
        if (!is_given) agent.environment.push_back(std::move(entry));
    }
    without_interpreter(program, [&] { return start_detached(agent, patience_ms, -1); });
}

}  // namespace

void add_log_agent(nb::module_& m) {
    m.def("start_agent", start_agent, nb::arg("program"), nb::arg("arguments"), nb::arg("variables"),
          nb::arg("patience_ms"), "Returns when it is ready. UnavailableError: it did not come up.");
}

}  // namespace halcyon::python
