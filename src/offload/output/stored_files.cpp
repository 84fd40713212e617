#include "offload/output/stored_files.hpp"

#include <algorithm>
#include <filesystem>

#include "offload/store/store.hpp"

namespace halcyon::offload {

namespace fs = std::filesystem;

std::optional<stored_file> stored_files::owned(const std::string& name) const {
    stored_file found;
    found.hidden = name.starts_with('.');
    const auto parsed = parse_file_name(name.substr(found.hidden ? 1 : 0), simulation_, ending_);
    if (!parsed) return std::nullopt;
    found.of_all = parsed->writer == all_servers;
    if (parsed->writer != writer_ && !(found.of_all && writer_ == node_writer(0))) return std::nullopt;
    found.iteration = parsed->first_iteration;
    found.part = parsed->part;
    return found;
}

void stored_files::add(const std::string& name) {
    const auto file = owned(name);
    if (!file) return;
    // Nearly always the last place.
    const auto at = std::lower_bound(files_.begin(), files_.end(), *file);
    if (at == files_.end() || *at != *file) files_.insert(at, *file);
}

void stored_files::publish(const std::string& name) {
    const auto file = owned(name);
    if (!file) return;
    const auto at = std::lower_bound(files_.begin(), files_.end(), *file);
    if (at != files_.end() && *at == *file) files_.erase(at);
    add(name.substr(1));
}

result<int64_t> stored_files::missing_from(const std::string& directory) const {
    std::vector<bool> there(files_.size());
    int64_t missing = size();
    std::error_code why;
    for (fs::directory_iterator entry(directory, why), end; !why && entry != end; entry.increment(why)) {
        const auto file = owned(entry->path().filename().string());
        if (!file) continue;
        const auto at = std::lower_bound(files_.begin(), files_.end(), *file);
        if (at == files_.end() || *at != *file) continue;
        auto seen = there[static_cast<size_t>(at - files_.begin())];
        if (!seen) --missing;
        seen = true;
    }
    if (why) return system_failure("output directory " + directory, why.value());
    return missing;
}

}  // namespace halcyon::offload
