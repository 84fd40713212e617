#include "logfs/mount/state/removal.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/directory/remove_tree.hpp"
#include "logfs/container/directory/removed_container.hpp"
#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/tools/process.hpp"
#include "logfs/mount/state/acting_as.hpp"

namespace halcyon::logfs {
namespace {

/// Of a name that next_name() made on this host (the prefix, and then <pid>.<number>@<host>); 0: it is none.
int64_t pid_in(std::string_view name, std::string_view host) {
    if (!name.starts_with(removed_prefix)) return 0;
    name.remove_prefix(removed_prefix.size());
    int64_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    const size_t at = name.find('@');
    const bool is_ours = error == std::errc() && *end == '.' && at != name.npos && name.substr(at + 1) == host;
    return is_ours ? pid : 0;
}

std::string path_of(const discarded& what) {
    return "/proc/self/fd/" + std::to_string(what.folder->get()) + "/" + what.name;
}

}  // namespace

/// What is in it goes as whom it belongs to: whoever asks may take its name, but in it may be more than that user may
/// remove. The directory itself goes by this process, for its owner may not change the folder.
result<void> remove(const discarded& what) {
    const int folder = what.folder->get();
    const descriptor whole(::openat(folder, what.name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!whole) return system_failure(what.name + ": cannot remove", errno);
    const auto owner = owner_of_container(whole.get());
    if (!owner) return owner.why();
    remove_node_index(kernel_files(), wished_node_folder(), whole.get());
    int failed = ENOTEMPTY;
    // What is removed while it is listed may keep others from being listed.
    for (int rounds = 0; rounds < 8 && failed == ENOTEMPTY; ++rounds) {
        {
            const acting_as itself(*owner);
            if (container removed; rounds == 0 && removed.open(path_of(what)))
                remove_other_directories(removed.calls(), removed.directory(), removed.id());
            memory_source memory(kernel_files());
            names_in(kernel_files(), memory, whole.get(), ".", [&](std::string_view name) {
                static_cast<void>(
                    remove_tree(kernel_files(), whole.get(), std::string(name).c_str(), levels_of_container));
                return 0;
            });
        }
        failed = ::unlinkat(folder, what.name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
    }
    return failed == 0 ? result<void>() : system_failure(what.name + ": cannot remove", failed);
}

std::string removal::next_name() {
    // Another process of this number may have left some.
    const uint64_t number = static_cast<uint64_t>(realtime_ns()) + count_.fetch_add(1);
    return std::string(removed_prefix) + std::to_string(::getpid()) + "." + std::to_string(number) + "@" + host_;
}

int removal::discard(const place& folder, const char* name, discarded& out) {
    int failed = 0;
    // Beside it, where the root is on another device or this user may not write there.
    for (const place& to : {root_, folder}) {
        const std::string hidden = next_name();
        if (::renameat2(folder->get(), name, to->get(), hidden.c_str(), 0) == 0) {
            out = {to, hidden};
            return 0;
        }
        failed = errno;
    }
    return failed;
}

void removal::sweep() {
    memory_source memory(kernel_files());
    std::vector<std::string> left;
    names_in(kernel_files(), memory, root_->get(), ".", [&](std::string_view name) {
        const int64_t pid = pid_in(name, host_);
        if (pid > 0 && !is_alive(pid)) left.emplace_back(name);
        return 0;
    });
    for (const std::string& name : left) static_cast<void>(remove({root_, name}));
}

}  // namespace halcyon::logfs
