#include "offload/client/directories_at_open.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "offload/client/run_file.hpp"
#include "offload/output/run_mark.hpp"

namespace halcyon::offload {

namespace fs = std::filesystem;

result<void> check_spill_directory(const model& m) {
    for (const variable& v : m.variables)
        if (v.when_full == full_policy::spill && ::access(m.buffer.spill_directory.c_str(), W_OK | X_OK) != 0)
            return system_failure(
                m.buffer.spill_where + ": " + m.buffer.spill_directory + " (wanted by variable '" + v.name + "')",
                errno);
    return {};
}

result<std::vector<fs::path>> files_to_replace(const model& m, const store& s, const fs::path& directory) {
    std::vector<fs::path> earlier;
    std::string sign;  // of a run: records alone are what an open that failed has left
    std::error_code why;
    for (fs::directory_iterator entry(directory, why), end; !why && entry != end; entry.increment(why)) {
        const std::string name = entry->path().filename().string();
        if (!belongs_to_run(name, m.simulation)) continue;
        earlier.push_back(entry->path());
        if (!is_record_of_server(name) && !is_run_mark(name)) sign = name;
    }
    const std::string where = s.path_where + ": output directory " + directory.string();
    if (why) return system_failure(where, why.value());
    if (!s.replace_existing && !sign.empty())
        return failure{error_kind::usage,
                       where + " already holds a run (" + sign + "): move it away, choose another path for stores." +
                           s.name + ", or set stores." + s.name + ".existing: replace",
                       0};
    if (::access(directory.c_str(), W_OK) != 0) return system_failure(where, errno);
    return earlier;
}

}  // namespace halcyon::offload
