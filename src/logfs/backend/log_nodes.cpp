#include "logfs/backend/log_nodes.hpp"

#include <fcntl.h>

#include <cerrno>
#include <new>

#include "calls/backends/hidden_descriptors.hpp"
#include "calls/backends/mounts.hpp"
#include "calls/state/direct_call.hpp"
#include "logfs/backend/backend_state.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/backend/node_use.hpp"
#include "logfs/backend/remove_tree.hpp"
#include "logfs/container/directory/removed_container.hpp"

namespace halcyon::logfs {

namespace {

/// Of descriptors that are out of the application's way: with fewer, none are kept for nodes that rest.
constexpr int least_room = 256;

}  // namespace

/// None that this thread is about to use: it has still to find that this was closed.
log_node* log_nodes::make() {
    void* room = nullptr;
    {
        const held_lock all(lock_);
        log_node** at = &unused_;
        while (*at != nullptr && node_use::interrupted(**at) != nullptr) at = &(*at)->next;
        room = *at;
        if (*at != nullptr) *at = (*at)->next;
    }
    if (room == nullptr) room = direct_files().take_pages(sizeof(log_node));
    return room == nullptr ? nullptr : new (room) log_node(*how_);
}

/// Its memory stays that of a node: who is about to use it, while another thread or a handler closes it, takes its lock
/// before it can see that (with_open_node). It holds nothing of the node when it does.
void log_nodes::give_back(log_node* node) {
    const held_lock all(lock_);
    node->next = unused_;
    unused_ = node;
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
int log_nodes::wait_for(log_node& known, taken& out) {
    int failed = 0;
    if (node_use::interrupted(known) == nullptr) {
        const held_node alone(known);
        failed = known.ready();
    }
    if (failed == 0) {
        out = {&known, false};
        return 0;
    }
    release(known);
    return failed == -EBADF ? -ESTALE : failed;
}

int log_nodes::take(int fd, const char* path, taken& out) {
    struct stat state {};
    if (const int failed = direct_files().status(fd, state); failed != 0) return failed;
    const bool is_alone = calls::backends::shares_memory_with_parent();
    if (!is_alone) {
        if (log_node* const known = share_known(state.st_dev, state.st_ino)) return wait_for(*known, out);
    }
    log_node* const woken = is_alone ? nullptr : wake(state.st_dev, state.st_ino, fd);
    log_node* const fresh = woken != nullptr ? woken : make();
    if (fresh == nullptr) return -ENOMEM;
    fresh->references = 1;
    fresh->device = state.st_dev;
    fresh->inode = state.st_ino;
    log_node* other = nullptr;
    int failed = 0;
    {
        // Others that find it wait until it is open.
        const held_node alone(*fresh);
        other = is_alone ? nullptr : add_or_share(*fresh);
        if (other == nullptr && woken == nullptr) failed = fresh->open(fd, path);
    }
    if (other != nullptr) {
        drop(*fresh);
        return wait_for(*other, out);
    }
    if (failed != 0) {
        forget(*fresh);
        release(*fresh);
        return failed;
    }
    out = {fresh, woken == nullptr};
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

bool log_nodes::share(log_node& node, calls::file_backend::handle opened) {
    {
        const held_lock all(lock_);
        if (node.references == 0) return false;
        ++node.references;
    }
    if (state::handles.is_open(opened)) return true;
    release(node);
    return false;
}

void log_nodes::release(log_node& node) {
    {
        const held_lock all(lock_);
        if (--node.references > 0) return;
        if (node.is_known) remove(node);
    }
    if (node_use* const goes_on = node_use::interrupted(node))
        goes_on->end_behind_it();
    else
        end(node);
}

void log_nodes::end(log_node& node) {
    calls::path_room removed;
    const bool may_rest =
        calls::hidden_descriptors::room() >= least_room && !calls::backends::shares_memory_with_parent();
    bool rests = false;
    {
        const held_node alone(node);
        rests = may_rest && node.rest();
        if (!rests) node.close(removed);
    }
    if (rests) return keep(node);
    give_back(&node);
    if (removed.text()[0] != '\0') remove_unused(removed.text());
}

// --- nodes that rest: each belongs to whoever takes it out of the list ---

/// With the lock. Not one that this thread is about to use (make()): null.
log_node* log_nodes::take_resting(size_t place) {
    if (place >= resting_count_ || node_use::interrupted(*resting_[place]) != nullptr) return nullptr;
    log_node* const taken = resting_[place];
    for (size_t i = place + 1; i < resting_count_; ++i) resting_[i - 1] = resting_[i];
    --resting_count_;
    return taken;
}

/// With the lock. As many as there are: none.
size_t log_nodes::place_of_resting(uint64_t device, uint64_t inode) const {
    size_t place = 0;
    while (place < resting_count_ && (resting_[place]->device != device || resting_[place]->inode != inode)) ++place;
    return place;
}

/// In place of the one that rests for the longest time.
void log_nodes::keep(log_node& node) {
    log_node* too_many = &node;
    {
        const held_lock all(lock_);
        const size_t same = place_of_resting(node.device, node.inode);
        const bool is_full = resting_count_ == most_resting;
        log_node* const before = same < resting_count_ ? take_resting(same) : is_full ? take_resting(0) : nullptr;
        const bool is_alone = place_of_resting(node.device, node.inode) == resting_count_;
        // Another thread may have opened it meanwhile.
        if (is_alone && resting_count_ < most_resting && find(node.device, node.inode) == nullptr) {
            resting_[resting_count_++] = &node;
            too_many = nullptr;
        }
        if (before != nullptr && too_many != nullptr)
            resting_[resting_count_++] = before;
        else if (before != nullptr)
            too_many = before;
    }
    if (too_many != nullptr) drop(*too_many);
}

/// Null: none rests, or its container is not what it was. The directory that a node holds keeps its number.
log_node* log_nodes::wake(uint64_t device, uint64_t inode, int fd) {
    log_node* found = nullptr;
    {
        const held_lock all(lock_);
        found = take_resting(place_of_resting(device, inode));
    }
    if (found == nullptr) return nullptr;
    bool is_awake = false;
    {
        const held_node alone(*found);
        is_awake = found->wake(fd);
    }
    if (is_awake) return found;
    drop(*found);
    return nullptr;
}

/// It is nobody else's.
void log_nodes::drop(log_node& node) {
    {
        const held_node alone(node);
        node.close();
    }
    give_back(&node);
}

void log_nodes::drop_resting() {
    for (size_t kept = 0;;) {
        log_node* next = nullptr;
        {
            const held_lock all(lock_);
            while (kept < resting_count_ && (next = take_resting(kept)) == nullptr) ++kept;
        }
        if (next == nullptr) return;
        drop(*next);
    }
}

/// Pages for the path: a handler's stack may be as small as 8 KiB.
int log_nodes::open_twin(const log_node& of, log_node*& out) {
    constexpr size_t room = PATH_MAX + 64;
    auto* const path = static_cast<char*>(direct_files().take_pages(room));
    if (path == nullptr) return -ENOMEM;
    log_node* const twin = make();
    int failed = twin == nullptr ? -ENOMEM : of.path(path, room) == 0 ? -EBADF : 0;
    const int fd = failed != 0 ? failed : direct_files().open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (failed == 0) failed = fd < 0 ? fd : twin->open(fd, path);
    if (fd >= 0) direct_files().close(fd);
    direct_files().return_pages(path, room);
    if (failed == 0 && (twin->device != of.device || twin->inode != of.inode)) failed = -ESTALE;
    if (failed == 0) failed = twin->write_behind_all();
    if (failed == 0) {
        out = twin;
        return 0;
    }
    if (twin != nullptr) {
        twin->close();
        give_back(twin);
    }
    return failed;
}

/// Who would remove the container finds that the other one has it open.
void log_nodes::close_twin(log_node& of, log_node& twin) {
    const bool wrote = twin.has_unpublished || twin.file().writing().has_value();
    static_cast<void>(twin.publish());
    twin.close();
    give_back(&twin);
    if (wrote) of.has_twin_writes.store(true, std::memory_order_relaxed);
}

void log_nodes::after_fork() {
    renumber_threads();
    lock_.forget_others();
    for (log_node*& first : chains_) {
        for (log_node** at = &first; *at != nullptr;) {
            log_node& node = **at;
            node.forget();
            // Another thread was about to open it, and is not here: nobody would.
            node.is_known = node.was_opened();
            if (node.is_known)
                at = &node.next;
            else
                *at = node.next;
        }
    }
    for (log_node* at = unused_; at != nullptr; at = at->next) at->lock.forget_others();
    for (; resting_count_ > 0; --resting_count_) {
        log_node& parents = *resting_[resting_count_ - 1];
        parents.forget();
        drop(parents);
    }
}

void log_nodes::before_exec() {
    drop_resting();
    const held_lock all(lock_);
    for (log_node* const first : chains_) {
        for (log_node* at = first; at != nullptr; at = at->next) {
            if (node_use::interrupted(*at) != nullptr) continue;
            const held_node alone(*at);
            at->publish();
            at->close_file();
        }
    }
}

/// All but those that another thread uses for long, or that this one is in the middle of using.
template <class Work>
void log_nodes::with_free_nodes(Work work) {
    const held_lock all(lock_);
    const uint32_t self = this_thread_number();
    constexpr int most_tries = 300;  // some 10 ms for all of them together
    int tries = 0;
    for (log_node* const first : chains_) {
        for (log_node* at = first; at != nullptr; at = at->next) {
            if (node_use::interrupted(*at) != nullptr) continue;
            bool is_held = at->lock.try_lock(self);
            for (; !is_held && tries < most_tries; is_held = at->lock.try_lock(self))
                calls::direct::wait_a_little(tries++);
            if (!is_held) continue;
            work(*at);
            at->lock.unlock(self);
        }
    }
}

void log_nodes::before_fork() {
    with_free_nodes([](log_node& of) { of.settle(); });
}

void log_nodes::keep_still() {
    const uint32_t self = this_thread_number();
    if (!lock_.is_of(self)) static_cast<void>(lock_.lock(self));
}

/// Nothing, where this thread does not keep still.
void log_nodes::go_on() {
    lock_.unlock(this_thread_number());
}

void log_nodes::before_end() {
    drop_resting();
    with_free_nodes([](log_node& of) {
        calls::path_room removed;
        of.end_with_process(removed);
        // A forked child may go on with it: without locks, nobody knows.
        if (removed.text()[0] != '\0')
            remove_unused(direct_files(), removed.text(), state::settings.index_folder, without_locks::stays);
    });
}

/// Where there are no locks, whoever had it open here has closed it.
void remove_unused(const char* path) {
    const calls::blocked_signals whole;
    remove_unused(direct_files(), path, state::settings.index_folder, without_locks::goes);
}

}  // namespace halcyon::logfs
