#include "logfs/backend/whole_path.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "calls/state/direct_call.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"

namespace halcyon::logfs {
namespace {

namespace direct = calls::direct;

int look_at(int directory, const char* name, bool follow, struct stat& out) {
    return static_cast<int>(direct::call(SYS_newfstatat, directory, direct::address(name), direct::address(&out),
                                         follow ? 0 : AT_SYMLINK_NOFOLLOW));
}

bool has(int directory, std::string_view folder, std::string_view name) {
    char text[2 * PATH_MAX + 64];
    if (folder.size() + name.size() + 2 > sizeof text) return false;
    char* end = static_cast<char*>(mempcpy(text, folder.data(), folder.size()));
    *end++ = '/';
    end = static_cast<char*>(mempcpy(end, name.data(), name.size()));
    *end = '\0';
    struct stat there {};
    return look_at(directory, text, false, there) == 0;
}

bool is_container_at(int directory, std::string_view name) {
    return has(directory, name, marker_name) || has(directory, name, plfs_access_name);
}

}  // namespace

bool may_be_inner(std::string_view name) {
    for (const std::string_view begin :
         {host_directory_prefix, index_prefix, data_prefix, std::string_view("halcyon-"), std::string_view("damaged."),
          std::string_view("dropping."), std::string_view(".plfs")})
        if (name.starts_with(begin)) return true;
    for (const std::string_view whole :
         {append_lock_name, punched_name, times_name, std::string_view("meta"), std::string_view("openhosts"),
          std::string_view("creator"), std::string_view("version")})
        if (name == whole) return true;
    return false;
}

bool is_hidden_name(std::string_view name) {
    return name.starts_with(".halcyon-");
}

bool is_container(int fd, const char* name) {
    return is_container_at(fd, name);
}

whole_path::whole_path(std::string_view root, const char* path) : root_(root.size()) {
    put(root);
    if (std::strcmp(path, "/") != 0) put(path);
}

// What is cut off is longer than any path of the kernel's, which says so.
void whole_path::put(std::string_view text) {
    const size_t room = sizeof text_ - 1 - length_;
    const size_t bytes = text.size() < room ? text.size() : room;
    std::memcpy(text_ + length_, text.data(), bytes);
    length_ += bytes;
    text_[length_] = '\0';
}

std::string_view whole_path::last_name() const {
    const std::string_view all = view();
    return all.substr(all.rfind('/') + 1);
}

bool whole_path::may_be_inside() const {
    for (size_t at = root_; at < length_;) {
        size_t end = ++at;
        while (end < length_ && text_[end] != '/') ++end;
        if (may_be_inner({text_ + at, end - at})) return true;
        at = end;
    }
    return false;
}

bool whole_path::is_inside() const {
    for (size_t end = length_; end-- > root_ + 1;)
        if (text_[end] == '/' && is_container_at(AT_FDCWD, {text_, end})) return true;
    return false;
}

int whole_path::look(bool follow, found& out) const {
    const int done = look_at(AT_FDCWD, text_, follow, out.state);
    if (done == -ENOENT) return is_inside() ? -ENOTDIR : -ENOENT;
    if (done != 0) return done;
    if (may_be_inside() && is_inside()) return -ENOTDIR;
    out.is = !S_ISDIR(out.state.st_mode)         ? kind::other
             : is_container_at(AT_FDCWD, view()) ? kind::container
                                                 : kind::directory;
    return 0;
}

int whole_path::expect_parent() const {
    const size_t end = view().rfind('/');
    if (is_root() || end == std::string_view::npos || end < root_) return 0;
    whole_path above({text_, root_}, "/");
    above.put({text_ + root_, end - root_});
    found there;
    if (const int failed = above.look(true, there); failed != 0) return failed;
    return there.is == kind::directory ? 0 : -ENOTDIR;
}

int whole_path::follow_link() {
    char target[PATH_MAX];
    const long bytes =
        direct::call(SYS_readlinkat, AT_FDCWD, direct::address(text_), direct::address(target), sizeof target);
    if (bytes < 0) return static_cast<int>(bytes);
    if (bytes == sizeof target) return -ENAMETOOLONG;
    const std::string_view to(target, static_cast<size_t>(bytes));
    length_ = to.starts_with('/') ? 0 : view().rfind('/') + 1;
    if (root_ > length_) root_ = length_;
    put(to);
    return 0;
}

}  // namespace halcyon::logfs
