#include "logfs/api/files_of_process.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "logfs/direct/direct_file_calls.hpp"

namespace halcyon::logfs {
namespace {

/// By its own symbol: HALCYON_LOG alone is nothing but a variable. What the application does with that later, does not
/// matter (backends::start_backends).
bool is_logged() {
    const char* const directories = std::getenv("HALCYON_LOG");
    return directories != nullptr && *directories != '\0' && ::dlsym(RTLD_DEFAULT, "halcyon_io_job") != nullptr;
}

/// When the library is loaded, before the application can change its environment.
const bool was_logged = is_logged();

}  // namespace

file_calls& files_of_process() {
    // Never destroyed: handles may be in use when the process ends.
    static file_calls& calls = was_logged ? static_cast<file_calls&>(*new direct_file_calls) : kernel_files();
    return calls;
}

}  // namespace halcyon::logfs
