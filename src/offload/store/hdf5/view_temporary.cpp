#include "offload/store/hdf5/view_temporary.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "base/node_identity.hpp"

namespace halcyon::offload::hdf5 {
namespace {

/// A view is made in seconds.
constexpr time_t untouched_s = 3600;

/// Of the namespace in which process ids are unique; 0: unknown.
unsigned long long process_namespace() {
    struct stat info {};
    return ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

struct process_state {
    char letter = '?';
    unsigned long long started = 0;  ///< ticks since the boot: a process id may come again, this does not
};

/// Nothing when there is no such process.
std::optional<process_state> state_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    // The second field is the program's name, which may hold anything.
    const size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream rest(line.substr(name_end + 1));
    process_state found;
    rest >> found.letter;
    std::string skipped;
    for (int field = 4; field < 22; ++field) rest >> skipped;
    rest >> found.started;
    return found;
}

std::string host_and_namespace() {
    return host_name() + "." + std::to_string(process_namespace()) + ".";
}

}  // namespace

view_temporaries::view_temporaries(std::string directory, const std::string& simulation)
    : directory_(std::move(directory)), begin_("." + simulation + ".view.") {
    const auto self = state_of(::getpid());
    own_ = begin_ + host_and_namespace() + std::to_string(::getpid()) + "." + std::to_string(self ? self->started : 0) +
           ".";
}

std::string view_temporaries::path_of(const std::string& suffix) const {
    return directory_ + "/" + own_ + suffix;
}

void view_temporaries::remove_if_left_over(const std::string& name) const {
    if (!name.starts_with(begin_) || name.starts_with(own_)) return;
    const std::string path = directory_ + "/" + name;
    const std::string here = begin_ + host_and_namespace();
    int process = 0;
    unsigned long long started = 0;
    if (process_namespace() != 0 && name.starts_with(here) &&
        std::sscanf(name.c_str() + here.size(), "%d.%llu.", &process, &started) == 2 && started != 0) {
        const auto state = state_of(process);
        const bool lives = state && state->started == started && state->letter != 'Z' && state->letter != 'X';
        if (!lives) ::unlink(path.c_str());
        return;
    }
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && info.st_mtime + untouched_s < ::time(nullptr)) ::unlink(path.c_str());
}

}  // namespace halcyon::offload::hdf5
