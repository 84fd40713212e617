#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/sync_path.hpp"
#include "base/text_file.hpp"
#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/flattening_names.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;

/// What killed processes left in one folder.
class leftovers {
  public:
    explicit leftovers(std::string folder) : folder_(std::move(folder)) {}

    result<void> finish() {
        std::error_code why;
        for (fs::directory_iterator at(folder_, why), end; !why && at != end; at.increment(why)) {
            const std::string name = at->path().filename();
            if (name.starts_with(prefix)) names_.insert(name);
        }
        if (why) return system_failure(folder_ + ": cannot list", why.value());
        if (names_.empty()) return {};
        result<void> done;
        for (const std::string& name : names_) {
            if (auto one = finish(name); !one && done.ok()) done = one;
        }
        return done;
    }

  private:
    static constexpr std::string_view prefix = ".halcyon-flattened-";

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

    /// Each name is that of a file, or of a container, or of one of the two that belong to them.
    result<void> finish(const std::string& name) {
        if (name.ends_with(aside_suffix))
            return finish_renaming(name.substr(0, name.size() - std::strlen(aside_suffix)));
        if (name.ends_with(name_suffix)) {
            const std::string file = name.substr(0, name.size() - std::strlen(name_suffix));
            // Where the container is still aside, it says to whom the file belongs.
            if (!names_.contains(file + aside_suffix)) ::unlink(path(name).c_str());
            return {};
        }
        struct stat there {};
        if (::lstat(path(name).c_str(), &there) != 0) return {};
        if (S_ISDIR(there.st_mode)) return was_container(name) ? remove(name) : result<void>();
        if (names_.contains(name + aside_suffix) || is_of_container(name)) return {};
        return remove_file(name);
    }

    /// With its marker, or without, as it is when its place was taken. Else something foreign has got the name.
    [[nodiscard]] bool was_container(const std::string& name) const {
        container candidate;
        if (candidate.open(path(name))) return std::to_string(candidate.id()) == name.substr(prefix.size());
        std::error_code why;
        for (fs::directory_iterator at(path(name), why), end; !why && at != end; at.increment(why)) {
            const std::string inner = at->path().filename();
            uint32_t number = 0;
            const bool is_known = parse_host_directory(inner, number) || inner.starts_with(begun_link_prefix) ||
                                  inner == append_lock_name || inner == punched_name || inner == times_name ||
                                  inner == descriptor_name;
            if (!is_known) return false;
        }
        return !why;
    }

    /// A file has its place.
    [[nodiscard]] result<void> remove(const std::string& name) const {
        uint64_t id = 0;
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), id);
        const descriptor directory(::open(path(name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
        if (directory) {
            remove_other_directories(kernel_files(), directory.get(), id);
            remove_node_index(kernel_files(), wished_node_folder(), directory.get());
        }
        std::error_code why;
        fs::remove_all(path(name), why);
        return why ? system_failure(path(name) + ": cannot remove", why.value()) : result<void>();
    }

    /// Nothing had the name when the process was killed, or the file had it already.
    [[nodiscard]] result<void> finish_renaming(const std::string& file) const {
        const std::string name_file = path(file + name_suffix);
        if (const descriptor held = locked(path(file)); held) {
            const auto name = read_text_file(name_file);
            if (!name) return name.why();
            const int done = ::renameat2(AT_FDCWD, path(file).c_str(), AT_FDCWD, path(*name).c_str(), RENAME_NOREPLACE);
            if (done != 0 && (errno == EINVAL || errno == ENOSYS)) {
                struct stat there {};
                if (::lstat(path(*name).c_str(), &there) != 0 && ::rename(path(file).c_str(), path(*name).c_str()) != 0)
                    return system_failure(path(file) + ": cannot rename", errno);
            } else if (done != 0 && errno != EEXIST) {
                return system_failure(path(file) + ": cannot rename", errno);
            }
            if (auto synced = sync_directory(folder_); !synced) return synced;
        } else if (struct stat there{}; ::lstat(path(file).c_str(), &there) == 0) {
            return {};  // somebody is at it
        }
        if (auto gone = remove(file + aside_suffix); !gone) return gone;
        ::unlink(name_file.c_str());
        return {};
    }

    /// Empty: there is none, or a process writes it.
    static descriptor locked(const std::string& file) {
        descriptor held(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
        if (held && ::flock(held.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) held.reset();
        return held;
    }

    /// The next one who flattens that container writes over it.
    [[nodiscard]] bool is_of_container(const std::string& file) {
        if (!ids_) look_at_containers();
        return ids_->contains(file.substr(prefix.size()));
    }

    void look_at_containers() {
        ids_.emplace();
        std::error_code why;
        for (fs::directory_iterator at(folder_, why), end; !why && at != end; at.increment(why)) {
            if (!at->is_directory(why)) continue;
            container candidate;
            if (candidate.open(at->path().string())) ids_->insert(std::to_string(candidate.id()));
        }
    }

    [[nodiscard]] result<void> remove_file(const std::string& name) const {
        const descriptor held = locked(path(name));
        if (!held || ::unlink(path(name).c_str()) == 0 || errno == ENOENT) return {};
        return system_failure(path(name) + ": cannot remove", errno);
    }

    std::string folder_;
    std::set<std::string> names_;
    std::optional<std::set<std::string>> ids_;  // of the containers beside them; none: nobody has asked yet
};

}  // namespace

result<void> finish_flattening(const std::string& folder) {
    return leftovers(folder.empty() ? "." : folder).finish();
}

}  // namespace halcyon::logfs
