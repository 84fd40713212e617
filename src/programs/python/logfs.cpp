// halcyon._logfs: log containers for halcyon.logfs, which is the one that programs use. Never links MPI.

#include <nanobind/nanobind.h>

#include "programs/python/log_agent.hpp"
#include "programs/python/log_file.hpp"
#include "programs/python/log_pace.hpp"
#include "programs/python/log_tools.hpp"

NB_MODULE(_logfs, m) {
    halcyon::python::add_log_file(m);
    halcyon::python::add_log_pace(m);
    halcyon::python::add_log_tools(m);
    halcyon::python::add_log_agent(m);
}
