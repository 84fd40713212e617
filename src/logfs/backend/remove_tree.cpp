#include "logfs/backend/remove_tree.hpp"

#include <fcntl.h>

#include <atomic>
#include <climits>
#include <cstring>
#include <string_view>

#include "base/clock.hpp"
#include "calls/state/direct_call.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/backend/log_nodes.hpp"
#include "logfs/backend/whole_path.hpp"
#include "logfs/container/directory/begun_container.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/directory/remove_tree.hpp"
#include "logfs/container/directory/removed_container.hpp"
#include "logfs/container/directory/replacement.hpp"
#include "logfs/container/files/memory_source.hpp"

namespace halcyon::logfs {
namespace {

/// A path, or a name, and one more below it.
class joined {
  public:
    joined(std::string_view folder, std::string_view name) {
        if (folder.size() + name.size() + 2 > sizeof text_) return;
        char* end = static_cast<char*>(mempcpy(text_, folder.data(), folder.size()));
        *end++ = '/';
        end = static_cast<char*>(mempcpy(end, name.data(), name.size()));
        *end = '\0';
    }
    [[nodiscard]] const char* c_str() const { return text_; }

  private:
    char text_[PATH_MAX + 256] = "";
};

/// Longer than any creation takes, and any difference of two clocks of a cluster.
constexpr int64_t old_ns = int64_t{3600} * 1'000'000'000;

bool is_long_ago(int64_t ns) {
    return realtime_ns() - ns > old_ns;
}

bool is_old(const char* path) {
    struct stat state {};
    if (direct_files().status_at(AT_FDCWD, path, state) != 0) return false;
    return is_long_ago(state.st_mtim.tv_sec * 1'000'000'000);
}

/// A container, or a plain file.
void remove_replaced(const char* path) {
    if (direct_files().remove_at(AT_FDCWD, path, false) != 0) remove_unused(path);
}

}  // namespace

short_name removed_name() {
    static std::atomic<uint64_t> count{0};
    return short_name("/")
        .add(removed_prefix)
        .add(static_cast<uint64_t>(realtime_ns()))
        .add("-")
        .add(static_cast<uint64_t>(calls::direct::process_id()))
        .add("-")
        .add(count.fetch_add(1));
}

int remove_tree(int directory, const char* name) {
    return remove_tree(direct_files(), directory, name, levels_of_container);
}

void sweep(const char* directory, bool all) {
    memory_source memory(direct_files());
    names_in(direct_files(), memory, AT_FDCWD, directory, [&](std::string_view found) {
        const joined whole(directory, found);
        if (found.starts_with(removed_prefix)) remove_unused(whole.c_str());
        if (found.starts_with(begun_prefix) && (all || is_old(whole.c_str()))) remove_tree(AT_FDCWD, whole.c_str());
        const int64_t replaced_ns = replaced_at_ns(found);
        if (replaced_ns > 0 && (all || is_long_ago(replaced_ns))) remove_replaced(whole.c_str());
        return 0;
    });
}

}  // namespace halcyon::logfs
