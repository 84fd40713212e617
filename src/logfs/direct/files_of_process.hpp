#pragma once

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// By what a library that the application links makes its calls: by the C library's functions, which are seen as those
/// of the application are; in a process under `halcyon run --log` past them, where the same paths stand for other
/// files.
file_calls& files_of_process();

}  // namespace halcyon::logfs
