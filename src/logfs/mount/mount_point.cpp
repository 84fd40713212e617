#include "logfs/mount/mount_point.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "logfs/mount/state/names.hpp"

extern char** environ;

namespace halcyon::logfs {
namespace {

constexpr int patience_ms = 60'000;
constexpr std::string_view program_name = "halcyon-mount";

/// The system writes spaces and their like as \040.
std::string unescaped(std::string_view text) {
    std::string made;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 3 >= text.size()) {
            made += text[i];
            continue;
        }
        made += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
        i += 3;
    }
    return made;
}

/// `36 35 0:51 / /mnt rw,nosuid shared:1 - fuse.halcyon /scratch rw,user_id=0`
std::optional<known_mount> parsed(const std::string& line) {
    std::istringstream words(line);
    std::string id, parent, root, word;
    known_mount found;
    words >> id >> parent >> found.device >> root >> found.point;
    while (words >> word && word != "-") continue;
    if (!(words >> found.type >> found.source)) return std::nullopt;
    found.point = unescaped(found.point);
    found.source = unescaped(found.source);
    return found;
}

std::string without_links(const std::string& path) {
    const std::unique_ptr<char, decltype(&::free)> found(::realpath(path.c_str(), nullptr), &::free);
    return found ? std::string(found.get()) : std::string();
}

/// The set-user-id program by which users unmount; its exit status.
int run_fusermount(const std::string& point, when_busy what) {
    std::vector<const char*> words{"fusermount3", "-u", "-q"};
    if (what == when_busy::detach) words.push_back("-z");
    words.insert(words.end(), {"--", point.c_str(), nullptr});
    pid_t child = -1;
    const int failed =
        ::posix_spawnp(&child, words[0], nullptr, nullptr, const_cast<char* const*>(words.data()), environ);
    if (failed != 0) return -failed;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

/// Of the process that serves the mount; 0: it does not say, or is one of another container's numbers.
pid_t server_of(const std::string& point) {
    std::array<char, 32> text{};
    const std::string link = point + "/" + std::string(about_name);
    if (::readlink(link.c_str(), text.data(), text.size() - 1) <= 0) return 0;
    std::string name;
    std::ifstream("/proc/" + std::string(text.data()) + "/comm") >> name;
    return name == program_name ? ::atoi(text.data()) : 0;
}

/// False: it lives on.
bool has_ended(const descriptor& process) {
    pollfd end{process.get(), POLLIN, 0};
    int ready = 0;
    do {
        ready = ::poll(&end, 1, patience_ms);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

}  // namespace

std::optional<known_mount> mount_at(const std::string& point) {
    std::ifstream lines("/proc/self/mountinfo");
    std::optional<known_mount> last;
    for (std::string line; std::getline(lines, line);) {
        if (auto found = parsed(line); found && found->point == point) last = std::move(found);
    }
    return last;
}

bool is_in_tree(const known_mount& what) {
    const auto there = mount_at(what.point);
    return there && there->device == what.device;
}

result<std::string> real_mount_point(const std::string& path) {
    if (std::string found = without_links(path); !found.empty()) return found;
    const int why = errno;
    // The name itself may be all that can be asked for.
    const size_t slash = path.find_last_not_of('/') == path.npos ? 0 : path.rfind('/', path.find_last_not_of('/'));
    const std::string above = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    const std::string folder = without_links(above);
    std::string name = slash == path.npos ? path : path.substr(slash + 1);
    while (name.ends_with('/')) name.pop_back();
    if (folder.empty() || name.empty()) return system_failure(path, why);
    const std::string whole = folder == "/" ? "/" + name : folder + "/" + name;
    if (mount_at(whole)) return whole;
    return system_failure(path, why);
}

bool is_abandoned(const std::string& point) {
    struct stat status {};
    return ::stat(point.c_str(), &status) != 0 && errno == ENOTCONN;
}

result<void> detach(const std::string& point, when_busy what) {
    const int flags = UMOUNT_NOFOLLOW | (what == when_busy::detach ? MNT_DETACH : 0);
    if (::umount2(point.c_str(), flags) == 0) return {};
    if (errno != EPERM) return system_failure(point + ": cannot unmount", errno);
    const int status = run_fusermount(point, what);
    if (status == 0) return {};
    if (status < 0) return system_failure("fusermount3, by which users unmount, cannot be run", -status);
    if (!mount_at(point)) return {};
    return system_failure(point + ": cannot unmount", EBUSY);
}

result<void> unmount(const std::string& path, when_busy what) {
    const auto point = real_mount_point(path);
    if (!point) return point.why();
    const auto there = mount_at(*point);
    if (!there || there->type != mount_type) {
        const std::string seen = there ? "a file system of type " + there->type : "nothing";
        return failure{error_kind::usage, path + ": " + seen + " is mounted there, no backend of Halcyon", 0};
    }
    if (is_abandoned(*point)) return detach(*point, when_busy::detach);
    const pid_t server = server_of(*point);
    const descriptor process(server > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, server, 0)) : -1);
    auto done = detach(*point, what);
    if (!done && done.why().system_errno == EBUSY) {
        return failure{error_kind::system,
                       path +
                           ": programs have files open there or work in its folders (`fuser -m` lists them); they "
                           "have to end first, or --lazy takes the mount out of the tree now and ends it with them",
                       EBUSY};
    }
    if (!done || !process) return done;
    // Other mount namespaces may have copies of the mount: it ends nevertheless, when its files are closed.
    ::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0);
    if (what == when_busy::detach || has_ended(process)) return done;
    return failure{error_kind::unavailable,
                   path + ": unmounted, but process " + std::to_string(server) + " still closes logs", ETIMEDOUT};
}

}  // namespace halcyon::logfs
