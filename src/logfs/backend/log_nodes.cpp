#include "logfs/backend/log_nodes.hpp"

#include <fcntl.h>

#include <cerrno>
#include <new>

#include "calls/backends/hidden_descriptors.hpp"
#include "calls/backends/mounts.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/backend/remove_tree.hpp"
#include "logfs/container/directory/open_mark.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"

namespace halcyon::logfs {

log_node* log_nodes::make() {
    void* const room = direct_files().take_pages(sizeof(log_node));
    return room == nullptr ? nullptr : new (room) log_node(*how_);
}

void log_nodes::give_back(log_node* node) {
    node->~log_node();
    direct_files().return_pages(node, sizeof(log_node));
}

log_node*& log_nodes::chain_of(uint64_t device, uint64_t inode) {
    return chains_[((device ^ inode) * 0x9E3779B97F4A7C15u >> 32) % chain_count];
}

log_node* log_nodes::find(uint64_t device, uint64_t inode) {
    for (log_node* at = chain_of(device, inode); at != nullptr; at = at->next)
        if (at->device == device && at->inode == inode) return at;
    return nullptr;
}

void log_nodes::add(log_node& node) {
    log_node*& first = chain_of(node.device, node.inode);
    node.next = first;
    node.is_known = true;
    first = &node;
}

void log_nodes::remove(log_node& node) {
    log_node** at = &chain_of(node.device, node.inode);
    while (*at != nullptr && *at != &node) at = &(*at)->next;
    if (*at != nullptr) *at = node.next;
    node.is_known = false;
}

log_node* log_nodes::share_known(uint64_t device, uint64_t inode) {
    const held_lock all(lock_);
    log_node* const known = find(device, inode);
    if (known != nullptr) ++known->references;
    return known;
}

log_node* log_nodes::add_or_share(log_node& fresh) {
    const held_lock all(lock_);
    log_node* const known = find(fresh.device, fresh.inode);
    if (known == nullptr)
        add(fresh);
    else
        ++known->references;
    return known;
}

/// Until whoever found it first has opened it.
int log_nodes::wait_for(log_node& known, log_node*& out) {
    int failed = 0;
    {
        const held_lock alone(known.lock);
        failed = known.ready();
    }
    if (failed == 0) {
        out = &known;
        return 0;
    }
    release(known);
    return failed == -EBADF ? -ESTALE : failed;
}

int log_nodes::take(int fd, const char* path, log_node*& out) {
    struct stat state {};
    if (const int failed = direct_files().status(fd, state); failed != 0) return failed;
    const bool is_alone = calls::backends::shares_memory_with_parent();
    if (!is_alone) {
        if (log_node* const known = share_known(state.st_dev, state.st_ino)) return wait_for(*known, out);
    }
    log_node* const fresh = make();
    if (fresh == nullptr) return -ENOMEM;
    fresh->references = 1;
    fresh->device = state.st_dev;
    fresh->inode = state.st_ino;
    log_node* other = nullptr;
    int failed = 0;
    {
        // Others that find it wait until it is open.
        const held_lock alone(fresh->lock);
        other = is_alone ? nullptr : add_or_share(*fresh);
        if (other == nullptr) failed = fresh->open(fd, path);
    }
    if (other != nullptr) {
        give_back(fresh);
        return wait_for(*other, out);
    }
    if (failed != 0) {
        forget(*fresh);
        release(*fresh);
        return failed;
    }
    out = fresh;
    return 0;
}

/// Nobody finds it any more.
void log_nodes::forget(log_node& node) {
    const held_lock all(lock_);
    if (node.is_known) remove(node);
}

int log_nodes::create(const char* path, mode_t mode, log_node*& out) {
    log_node* const fresh = make();
    if (fresh == nullptr) return -ENOMEM;
    fresh->references = 1;
    const int failed = fresh->create(path, mode);
    if (failed != 0) {
        give_back(fresh);
        return failed;
    }
    if (!calls::backends::shares_memory_with_parent()) {
        const held_lock all(lock_);
        // Another thread opened it a moment ago; each has a writer, which is as well.
        if (find(fresh->device, fresh->inode) == nullptr) add(*fresh);
    }
    out = fresh;
    return 0;
}

void log_nodes::share(log_node& node) {
    const held_lock all(lock_);
    ++node.references;
}

void log_nodes::release(log_node& node) {
    char removed[PATH_MAX + 64];
    {
        const held_lock all(lock_);
        if (--node.references > 0) return;
        if (node.is_known) remove(node);
    }
    {
        const held_lock alone(node.lock);
        node.close(removed, sizeof removed);
    }
    give_back(&node);
    if (removed[0] != '\0') remove_unused(removed);
}

void log_nodes::after_fork() {
    lock_.forget_others();
    for (log_node* const first : chains_)
        for (log_node* at = first; at != nullptr; at = at->next) at->forget();
}

void log_nodes::before_exec() {
    const held_lock all(lock_);
    for (log_node* const first : chains_) {
        for (log_node* at = first; at != nullptr; at = at->next) {
            const held_lock alone(at->lock);
            at->publish();
            at->close_file();
        }
    }
}

void remove_unused(const char* path) {
    const calls::blocked_signals whole;
    file_calls& files = direct_files();
    const int directory = files.open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (directory < 0) return;
    int marker = files.open_at(directory, marker_name.data(), O_RDWR, 0);
    if (marker == -ENOENT) marker = files.open_at(directory, plfs_access_name.data(), O_RDWR, 0);
    const int locked = marker < 0 ? marker : keep_alone(files, marker);
    // Without a marker, another has begun to remove it. Where there are no locks, whoever had it open here has closed
    // it.
    const bool is_unused = marker < 0 ? marker == -ENOENT : locked != -EAGAIN;
    if (is_unused) {
        container what(files);
        if (what.open(path)) remove_other_directories(files, directory, what.id());
        what.close();
        remove_tree(AT_FDCWD, path);
    }
    if (marker >= 0) files.close(marker);
    files.close(directory);
}

}  // namespace halcyon::logfs
