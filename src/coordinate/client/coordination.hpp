#pragma once

#include <string>

#include "base/error.hpp"

/// How a program that takes turns by itself finds a coordinator. May throw bad_alloc only.
namespace halcyon::coordinate {

/// Who coordinates what, for a program.
struct coordination {
    std::string mounts;         ///< as HALCYON_COORDINATORS; "": nobody
    std::string munge_sockets;  ///< as HALCYON_MUNGE_SOCKETS
    std::string why;            ///< where there are no mounts
};

/// HALCYON_COORDINATORS, which `halcyon run --coordinate` sets; else coordinators.yaml: `config`, or, where that is
/// empty, the file that HALCYON_COORDINATORS_FILE names, or that of the machine. That of the machine may be missing or
/// wrong: then nobody coordinates.
/// Failure (config, system): a file that was named is wrong, or cannot be read.
result<coordination> find_coordination(const std::string& config);

}  // namespace halcyon::coordinate
