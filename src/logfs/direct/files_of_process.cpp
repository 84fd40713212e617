#include "logfs/direct/files_of_process.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "logfs/direct/direct_file_calls.hpp"

namespace halcyon::logfs {
namespace {

/// Whether the program began with this in its environment, and a value, whatever has become of it since. False where
/// nobody can tell.
bool program_began_with(std::string_view variable) {
    const int fd = direct::open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    char text[4096];
    size_t matched = 0;  // characters of the entry, as long as it is the wanted one
    bool is_other = false;
    bool is_found = false;
    for (ssize_t bytes = 0; !is_found && (bytes = direct::read(fd, text, sizeof text)) > 0;) {
        for (ssize_t i = 0; i < bytes; ++i) {
            if (text[i] == '\0') {
                matched = 0;
                is_other = false;
            } else if (!is_other && matched == variable.size()) {
                is_found = true;
                break;
            } else if (!is_other) {
                is_other = text[i] != variable[matched++];
            }
        }
    }
    direct::close(fd);
    return is_found;
}

/// By its own symbol: HALCYON_LOG alone is nothing but a variable. What the application does with that before this is
/// loaded (Python), or later, does not matter (backends::start_backends).
bool is_logged() {
    if (::dlsym(RTLD_DEFAULT, "halcyon_io_job") == nullptr) return false;
    const char* const directories = std::getenv("HALCYON_LOG");
    return (directories != nullptr && *directories != '\0') || program_began_with("HALCYON_LOG=");
}

const bool was_logged = is_logged();

}  // namespace

file_calls& files_of_process() {
    // Never destroyed: handles may be in use when the process ends.
    static file_calls& calls = was_logged ? static_cast<file_calls&>(*new direct_file_calls) : kernel_files();
    return calls;
}

}  // namespace halcyon::logfs
