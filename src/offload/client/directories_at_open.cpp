#include "offload/client/directories_at_open.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

#include "offload/client/run_file.hpp"
#include "offload/output/run_mark.hpp"
#include "offload/store/store.hpp"

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
    std::vector<std::string> others;
    std::error_code why;
    for (fs::directory_iterator entry(directory, why), end; !why && entry != end; entry.increment(why)) {
        const std::string name = entry->path().filename().string();
        if (is_record_of_run(name)) {
            earlier.push_back(entry->path());
            if (!is_record_of_server(name) && !is_run_mark(name)) sign = name;
        } else if (name.starts_with(m.simulation + ".") || name.starts_with("." + m.simulation + ".")) {
            others.push_back(name);
        }
    }
    const std::string where = s.path_where + ": output directory " + directory.string();
    if (why) return system_failure(where, why.value());
    // The earlier run may have had a store of another type. Modules are loaded only where there may be something of
    // them: the libraries that they need are otherwise the servers' alone.
    const std::vector<store_traits> formats = others.empty() ? std::vector<store_traits>() : known_formats();
    for (const std::string& name : others)
        if (std::any_of(formats.begin(), formats.end(),
                        [&](const store_traits& format) { return is_of_format(name, m.simulation, format); })) {
            earlier.push_back(directory / name);
            sign = name;
        }
    if (!s.replace_existing && !sign.empty())
        return failure{error_kind::usage,
                       where + " already holds a run (" + sign + "): move it away, choose another path for stores." +
                           s.name + ", or set stores." + s.name + ".existing: replace",
                       0};
    if (::access(directory.c_str(), W_OK) != 0) return system_failure(where, errno);
    return earlier;
}

result<void> prepare_directories(const model& m, const fs::path& directory, const std::string& run,
                                 std::vector<directory_claim>& claims) {
    std::set<fs::path> claimed;
    for (const store& s : m.stores) {
        const fs::path output = (directory / s.path).lexically_normal();
        std::error_code why;
        fs::create_directories(output, why);
        if (why) return system_failure("output directory " + output.string(), why.value());
        if (claimed.insert(fs::canonical(output, why)).second) {
            auto claim = directory_claim::take(output.string());
            if (!claim)
                return failure{claim.why().kind,
                               claim.why().message + ": choose another path for stores." + s.name +
                                   ", or wait until that session is closed and its server has stored everything",
                               claim.why().system_errno};
            claims.push_back(std::move(*claim));
        }
        const auto earlier = files_to_replace(m, s, output);
        if (!earlier) return earlier.why();
        for (const fs::path& file : *earlier) {
            fs::remove_all(file, why);
            if (why) return system_failure(file.string(), why.value());
        }
    }
    // Before anybody can join: servers of an earlier run see by it that this is not theirs.
    if (auto marked = mark_directories(m, directory, run); !marked) return marked;
    // Servers hold the directories too: one that was left behind by `close: detach` may still write.
    for (directory_claim& claim : claims)
        if (auto shared = claim.share(); !shared) return shared;
    return {};
}

result<void> mark_directories(const model& m, const fs::path& directory, const std::string& run) {
    for (const store& s : m.stores) {
        const std::string output = (directory / s.path).lexically_normal().string();
        if (auto marked = set_run_mark(output, run); !marked) return marked;
    }
    return {};
}

}  // namespace halcyon::offload
