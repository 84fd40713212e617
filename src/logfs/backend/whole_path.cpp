#include "logfs/backend/whole_path.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "calls/state/direct_call.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/backend/shown_calls.hpp"
#include "logfs/container/directory/begun_container.hpp"
#include "logfs/container/directory/marking.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {
namespace {

namespace direct = calls::direct;

int look_at(int directory, const char* name, bool follow, struct stat& out) {
    return static_cast<int>(shown::named(calls::call_id::log_stat, directory, name, [&] {
        return direct::call(SYS_newfstatat, directory, direct::address(name), direct::address(&out),
                            follow ? 0 : AT_SYMLINK_NOFOLLOW);
    }));
}

bool is_container_at(std::string_view path) {
    return marking_of(direct_files(), AT_FDCWD, path) != marking::none;
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
    return marking_of(direct_files(), fd, name) != marking::none;
}

whole_path::whole_path(std::string_view root, const char* path) : root_(root.size()) {
    put(root);
    if (std::strcmp(path, "/") != 0) put(path);
}

// What is cut off is longer than any path of the kernel's, which says so.
void whole_path::put(std::string_view text) {
    constexpr size_t longest = size_t{2} * PATH_MAX;
    const size_t wanted = length_ + text.size() + 1;
    const size_t room = text_.reserve(wanted < longest ? wanted : longest) ? text_.room() : 0;
    const size_t free = room > length_ + 1 ? room - 1 - length_ : 0;
    const size_t bytes = text.size() < free ? text.size() : free;
    std::memcpy(text_.text() + length_, text.data(), bytes);
    length_ += bytes;
    text_.text()[length_] = '\0';
}

std::string_view whole_path::last_name() const {
    const std::string_view all = view();
    return all.substr(all.rfind('/') + 1);
}

bool whole_path::may_be_inside() const {
    for (size_t at = root_; at < length_;) {
        size_t end = ++at;
        while (end < length_ && view()[end] != '/') ++end;
        if (may_be_inner(view().substr(at, end - at))) return true;
        at = end;
    }
    return false;
}

bool whole_path::is_inside() const {
    for (size_t end = length_; end-- > root_ + 1;)
        if (view()[end] == '/' && is_container_at(view().substr(0, end))) return true;
    return false;
}

template <class Marking>
int whole_path::look_by(Marking marking_of_folder, bool follow, found& out) const {
    const int done = look_at(AT_FDCWD, c_str(), follow, out.state);
    if (done == -ENOENT) return is_inside() ? -ENOTDIR : -ENOENT;
    if (done != 0) return done;
    if (may_be_inside() && is_inside()) return -ENOTDIR;
    out.is = kind::other;
    if (!S_ISDIR(out.state.st_mode)) return 0;
    marking by = marking_of_folder(direct_files(), AT_FDCWD, view());
    if (by == marking::none && becomes_container(direct_files(), AT_FDCWD, c_str(), out.state)) by = marking::ours;
    out.is = by == marking::none ? kind::directory : kind::container;
    out.is_plfs = by == marking::plfs;
    return 0;
}

int whole_path::look(bool follow, found& out) const {
    return look_by(marking_of, follow, out);
}

int whole_path::look_quickly(bool follow, found& out) const {
    return look_by(likely_marking_of, follow, out);
}

int whole_path::expect_parent() const {
    const size_t end = view().rfind('/');
    if (is_root() || end == std::string_view::npos || end < root_) return 0;
    whole_path above(view().substr(0, root_), "/");
    above.put(view().substr(root_, end - root_));
    found there;
    if (const int failed = above.look(true, there); failed != 0) return failed;
    return there.is == kind::directory ? 0 : -ENOTDIR;
}

int whole_path::follow_link() {
    char target[PATH_MAX];
    const int64_t bytes = direct_files().read_link_at(AT_FDCWD, c_str(), target, sizeof target);
    if (bytes < 0) return static_cast<int>(bytes);
    if (bytes == sizeof target) return -ENAMETOOLONG;
    const std::string_view to(target, static_cast<size_t>(bytes));
    length_ = to.starts_with('/') ? 0 : view().rfind('/') + 1;
    if (root_ > length_) root_ = length_;
    put(to);
    return 0;
}

}  // namespace halcyon::logfs
