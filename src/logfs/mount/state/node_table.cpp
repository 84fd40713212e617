#include "logfs/mount/state/node_table.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "logfs/container/directory/begun_container.hpp"
#include "logfs/container/directory/marking.hpp"

namespace halcyon::logfs {

node_kind kind_of(int fd, const struct stat& status) {
    if (!S_ISDIR(status.st_mode)) return node_kind::other;
    const bool is_container = marking_of(kernel_files(), fd, ".") != marking::none;
    // Where hosts create one file at a time, the kernel looks before it asks for the file.
    return is_container || becomes_container(kernel_files(), fd, ".", status) ? node_kind::container
                                                                              : node_kind::folder;
}

node_table::node_table(std::string backend, descriptor root, const struct stat& status, size_t most_places)
    : backend_(std::move(backend)),
      most_places_(most_places),
      root_(std::make_shared<node>(key_of(status), node_kind::folder)) {
    root_->at_ = std::make_shared<const descriptor>(std::move(root));
    root_->lookups_ = 1;
    root_->self_ = root_;
    nodes_.emplace(root_->key_, root_.get());
}

int node_table::look(int folder, const char* name, descriptor& out, struct stat& status) {
    int fd = -1;
    do {
        fd = ::openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    } while (fd < 0 && (errno == EINTR || ((errno == EMFILE || errno == ENFILE) && make_room())));
    if (fd < 0) return errno;
    out = descriptor(fd);
    return ::fstatat(fd, "", &status, AT_EMPTY_PATH) == 0 ? 0 : errno;
}

int node_table::at(node& of, place& out) {
    std::shared_ptr<node> above;
    std::string name;
    {
        const std::lock_guard alone(lock_);
        if (of.at_) {
            if (of.is_listed_) listed_.splice(listed_.begin(), listed_, of.listed_at_);
            out = of.at_;
            return 0;
        }
        if (of.is_gone_ || !of.above_) return ESTALE;
        above = of.above_;
        name = of.name_;
    }
    place folder;
    if (const int failed = at(*above, folder); failed != 0) return failed;
    descriptor fd;
    struct stat status {};
    if (const int failed = look(folder->get(), name.c_str(), fd, status); failed != 0)
        return failed == ENOENT ? ESTALE : failed;
    if (key_of(status) != of.key_) return ESTALE;
    const std::lock_guard alone(lock_);
    out = keep(of, std::move(fd));
    return 0;
}

int node_table::look_up(node& folder, const char* name, node*& out, struct stat& status) {
    place above;
    if (const int failed = at(folder, above); failed != 0) return failed;
    descriptor fd;
    if (const int failed = look(above->get(), name, fd, status); failed != 0) return failed;
    out = &know(folder, name, std::move(fd), status);
    return 0;
}

node& node_table::know(node& folder, const char* name, descriptor fd, const struct stat& status) {
    const node_kind kind = kind_of(fd.get(), status);
    const std::lock_guard alone(lock_);
    node*& known = nodes_[key_of(status)];
    if (known == nullptr || known->kind_ != kind) {
        // The kernel keeps the old one, where there is one, for as long as it needs it.
        auto made = std::make_shared<node>(key_of(status), kind);
        made->self_ = made;
        known = made.get();
    }
    node& found = *known;
    ++found.lookups_;
    if (&found != root_.get() && &found != &folder) {
        found.above_ = folder.self_;
        found.name_ = name;
    }
    found.is_gone_ = false;
    keep(found, std::move(fd));
    return found;
}

/// What the kernel has forgotten is needed for a moment only, to find what lies below it.
place node_table::keep(node& of, descriptor fd) {
    if (of.at_) {
        if (!of.is_listed_ && !of.is_gone_ && &of != root_.get()) list(of);
        return of.at_;
    }
    auto opened = std::make_shared<const descriptor>(std::move(fd));
    if (of.lookups_ == 0) return opened;
    of.at_ = opened;
    if (!of.is_gone_) list(of);
    return opened;
}

void node_table::list(node& of) {
    listed_.push_front(&of);
    of.listed_at_ = listed_.begin();
    of.is_listed_ = true;
    close_beyond(most_places_);
}

void node_table::unlist(node& of) {
    if (of.is_listed_) listed_.erase(of.listed_at_);
    of.is_listed_ = false;
}

/// Whoever uses one of them goes on: it closes when nobody does.
void node_table::close_beyond(size_t most) {
    while (listed_.size() > most && listed_.size() > 1) {
        node& oldest = *listed_.back();
        unlist(oldest);
        oldest.at_.reset();
    }
}

bool node_table::make_room() {
    const std::lock_guard alone(lock_);
    const size_t before = listed_.size();
    close_beyond(before / 2);
    return listed_.size() < before;
}

void node_table::forget(node& of, uint64_t lookups) {
    if (&of == root_.get() || &of == &about_) return;
    std::shared_ptr<node> last;  // ends after the lock
    const std::lock_guard alone(lock_);
    of.lookups_ -= lookups < of.lookups_ ? lookups : of.lookups_;
    if (of.lookups_ > 0) return;
    if (const auto known = nodes_.find(of.key_); known != nodes_.end() && known->second == &of) nodes_.erase(known);
    unlist(of);
    of.at_.reset();
    last = std::move(of.self_);
}

void node_table::moved(const file_key& what, node& folder, const char* name) {
    const std::lock_guard alone(lock_);
    const auto known = nodes_.find(what);
    if (known == nodes_.end() || known->second == &folder) return;
    known->second->above_ = folder.self_;
    known->second->name_ = name;
}

void node_table::gone(const file_key& what) {
    const std::lock_guard alone(lock_);
    const auto known = nodes_.find(what);
    if (known == nodes_.end()) return;
    known->second->is_gone_ = true;
    unlist(*known->second);
}

bool node_table::is_there(node& of) {
    std::shared_ptr<node> above;
    std::string name;
    {
        const std::lock_guard alone(lock_);
        if (&of == root_.get()) return true;
        if (of.is_gone_ || !of.above_) return false;
        above = of.above_;
        name = of.name_;
    }
    place folder;
    descriptor fd;
    struct stat status {};
    return at(*above, folder) == 0 && look(folder->get(), name.c_str(), fd, status) == 0 && key_of(status) == of.key_;
}

std::string node_table::path_of(node& of) {
    const std::lock_guard alone(lock_);
    std::vector<const node*> names;
    for (const node* each = &of; each != root_.get() && each->above_; each = each->above_.get()) names.push_back(each);
    std::string path = backend_;
    for (auto each = names.rbegin(); each != names.rend(); ++each) path.append("/").append((*each)->name_);
    return path;
}

}  // namespace halcyon::logfs
