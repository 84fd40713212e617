#include "offload/output/run_mark.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/descriptor.hpp"

namespace halcyon::offload {
namespace {

constexpr const char* mark_name = ".run-id";

/// "" when there is none.
std::string mark_of(const std::string& directory) {
    std::ifstream file(directory + "/" + mark_name);
    std::string run;
    std::getline(file, run);
    return run;
}

/// A whole mark under a name that nobody else has, not even on another host.
result<std::string> write_beside(const std::string& directory, const std::string& run) {
    std::string path = directory + "/" + mark_name + ".XXXXXX";
    const descriptor file(::mkstemp(path.data()));
    if (!file) return system_failure(path, errno);
    const std::string text = run + "\n";
    if (::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return path;
    const int why = errno;
    ::unlink(path.c_str());
    return system_failure(path, why);
}

failure not_ours(const std::string& directory) {
    return {error_kind::usage,
            "output directory " + directory +
                " belongs to another run now, so nothing more of this one is stored there: move it away, and this run "
                "makes a new one",
            0};
}

}  // namespace

result<void> set_run_mark(const std::string& directory, const std::string& run) {
    std::error_code why;
    std::filesystem::create_directories(directory, why);
    if (why) return system_failure("output directory " + directory, why.value());
    if (mark_of(directory) == run) return {};
    const auto made = write_beside(directory, run);
    if (!made) return made.why();
    const std::string mark = directory + "/" + mark_name;
    if (std::rename(made->c_str(), mark.c_str()) == 0) return {};
    const int problem = errno;
    ::unlink(made->c_str());
    return system_failure(mark, problem);
}

result<void> settle_in_directory(const std::string& directory, const std::string& run) {
    std::error_code why;
    std::filesystem::create_directories(directory, why);
    if (why) return system_failure("output directory " + directory, why.value());
    if (run.empty()) return {};
    std::string found = mark_of(directory);
    if (found.empty()) {
        const auto made = write_beside(directory, run);
        if (!made) return made.why();
        // Unlike a rename, a link does not replace the mark of a run that was quicker. Where there are no hard links
        // the last one has it, and the others find out.
        const std::string mark = directory + "/" + mark_name;
        if (::link(made->c_str(), mark.c_str()) != 0 && errno != EEXIST) std::rename(made->c_str(), mark.c_str());
        ::unlink(made->c_str());
        found = mark_of(directory);
    }
    if (found != run) return not_ours(directory);
    return {};
}

bool is_run_mark(const std::string& name) {
    return name.starts_with(mark_name);
}

}  // namespace halcyon::offload
