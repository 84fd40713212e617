#include "logfs/container/writing/other_writers.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/clock.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/files/held_file.hpp"
#include "logfs/container/files/whole_transfer.hpp"

namespace halcyon::logfs {
namespace {

bool is_refused(int opened) {
    return opened == -EACCES || opened == -EPERM || opened == -EROFS;
}

}  // namespace

/// What the head of its index says.
struct other_writers::durability {
    state_slot state{};
    int64_t synced_bytes = 0;  ///< of its data
    bool is_named = false;     ///< the names of its droppings are on the device
    bool is_durable = false;
};

other_writers::other_writers(container& of) : container_(of), memory_(of.calls()), head_(of.calls()) {}

void other_writers::forget() {
    folders_.release();
    writers_.release();
    numbers_.release();
}

result<void> other_writers::sync(const writer_identity& here, std::string_view own) {
    if (container_.is_plfs()) return {};
    if (const int done = look_for_new(here); done != 0)
        return container_.failed({}, "cannot look for what others wrote", -done);
    result<void> synced;
    for (known_writer& each : writers_) {
        if (each.is_done) continue;
        const short_name index =
            dropping_path(each.host_directory, {here.host_view(), each.pid, each.created_ns, dropping_kind::index});
        if (index.view() == own) continue;
        if (auto one = sync_one(each, index, here); !one && synced.ok()) synced = one;
    }
    return synced;
}

/// The droppings of a host are in one directory, but where that is spread over several backends: then in any.
int other_writers::look_for_new(const writer_identity& here) {
    if (folders_.empty()) {
        const uint32_t of_host = host_directory_of(here.host_view(), container_.host_directories());
        if (!folders_.push({0, container_itself, false})) return -ENOMEM;
        if (const int done = watch(of_host); done != 0) return done;
    }
    for (size_t i = 0; i < folders_.size(); ++i) {
        folder now = folders_[i];  // the array may grow
        const int done = list(now, here);
        folders_[i] = now;
        if (done != 0) return done;
    }
    return 0;
}

int other_writers::watch(uint32_t host_directory) {
    const bool is_watched = std::any_of(folders_.begin(), folders_.end(),
                                        [&](const folder& each) { return each.number == host_directory; });
    return is_watched || folders_.push({0, host_directory, false}) ? 0 : -ENOMEM;
}

int other_writers::list(folder& of, const writer_identity& here) {
    constexpr int64_t coarse_ns = 2'000'000'000;  // the steps in which file systems keep times
    file_calls& calls = container_.calls();
    const bool is_top = of.number == container_itself;
    const short_name name = is_top ? short_name(".") : host_directory_name(of.number).add("/.");
    struct stat now {};
    const int64_t looked_ns = realtime_ns();
    const int looked = calls.status_at(container_.directory(), name.c_str(), now);
    if (looked != 0) return looked == -ENOENT ? 0 : looked;
    const int64_t changed_ns = int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
    if (of.is_settled && of.changed_ns == changed_ns) return 0;
    of.changed_ns = changed_ns;
    of.is_settled = looked_ns - changed_ns > coarse_ns;
    return names_in(calls, memory_, container_.directory(), name.c_str(), [&](std::string_view found) {
        if (!is_top) return note(of.number, found, here);
        uint32_t number = 0;
        struct stat link {};
        const bool is_link = parse_host_directory(found, number) &&
                             calls.status_at(container_.directory(), short_name(found).c_str(), link) == 0 &&
                             S_ISLNK(link.st_mode);
        return is_link ? watch(number) : 0;
    });
}

int other_writers::note(uint32_t host_directory, std::string_view name, const writer_identity& here) {
    dropping_name who;
    if (!parse_dropping_name(name, who) || who.kind != dropping_kind::index) return 0;
    const short_name path = dropping_path(host_directory, {here.host_view(), who.pid, who.created_ns, who.kind});
    if (path.view().substr(path.view().rfind('/') + 1) != name) return 0;  // of another host
    const auto is_it = [&](uint32_t number) {
        const known_writer& known = writers_[number];
        return known.pid == who.pid && known.created_ns == who.created_ns && known.host_directory == host_directory;
    };
    const uint64_t hash = hash_of(path.view());
    if (numbers_.find(hash, is_it) != hashed_numbers::none) return 0;
    if (!writers_.push({who.pid, who.created_ns, host_directory, false})) return -ENOMEM;
    if (numbers_.add(hash)) return 0;
    writers_.pop();
    return -ENOMEM;
}

/// 1: `out` says it; 0: there is nothing of it; -errno.
int other_writers::look(int fd, known_writer& of, const writer_identity& here, durability& out) {
    const uint64_t salt = salt_of(of.created_ns, of.pid);
    if (const int done = head_.read(fd, salt, false); done <= 0) return done;
    index_header header{};
    const bool is_known = !head_.check_header(0, header) || !head_.check_header(header_copy_at, header);
    const std::string_view boot(header.boot_id, strnlen(header.boot_id, sizeof header.boot_id));
    // What a boot before this one left had been on the device.
    of.is_done = is_known && !boot.empty() && !here.boot_view().empty() && boot != here.boot_view();
    if (of.is_done) return 0;
    out.state = head_.states(salt).newer;
    const auto commits = head_.commits(salt);
    const commit_slot& commit = commits.newer.sequence > out.state.synced_commit ? commits.older : commits.newer;
    const synced_head synced = head_.synced(salt);
    const bool is_committed = commit.sequence > 0 && out.state.runs == 0 && out.state.end == commit.end &&
                              out.state.data_bytes == commit.data_bytes;
    out.synced_bytes = std::max(commit.data_bytes, synced.data_bytes());
    out.is_named = commit.sequence > 0 || synced.claimed() > 0;
    out.is_durable = out.state.sequence > 0 && (is_committed || synced.claimed() >= out.state.sequence);
    of.is_done = out.is_durable && out.state.is_closed == writer_ended;
    // The first state says that nothing is there yet.
    return out.state.sequence == 1 ? 0 : 1;
}

result<void> other_writers::sync_one(known_writer& of, const short_name& index, const writer_identity& here) {
    file_calls& calls = container_.calls();
    int opened = calls.open_at(container_.directory(), index.c_str(), O_RDWR | O_NOFOLLOW, 0);
    const bool may_note = opened >= 0;
    if (is_refused(opened)) opened = calls.open_at(container_.directory(), index.c_str(), O_RDONLY | O_NOFOLLOW, 0);
    if (opened == -ENOENT) of.is_done = true;
    if (opened < 0) return of.is_done ? result<void>() : container_.failed(index.view(), "cannot open", -opened);
    held_file held(calls);
    held.reset(opened);
    const auto failed = [&](int why) { return container_.failed(index.view(), "cannot sync", -why); };
    durability how;
    const int looked = look(opened, of, here, how);
    if (looked < 0) return failed(looked);
    if (looked == 0 || how.is_durable) return {};
    // Data before the index that names them.
    if (const int done = sync_data(index, here, how); done != 0) return failed(done);
    const auto state = bytes_of(how.state);
    const bool is_noted = may_note && how.state.sequence > 0 &&
                          write_whole(calls, opened, state, static_cast<int64_t>(synced_state_at)) == 0;
    if (const int done = calls.sync(opened); done != 0) return failed(done);
    if (!is_noted) return {};
    const synced_claim claim = synced_head::claim_of(how.state, salt_of(of.created_ns, of.pid));
    static_cast<void>(write_whole(calls, opened, bytes_of(claim), static_cast<int64_t>(synced_claim_at)));
    of.is_done = how.state.is_closed == writer_ended;
    return {};
}

/// And, where nobody has done so yet, the names of both droppings.
int other_writers::sync_data(const short_name& index, const writer_identity& here, const durability& how) {
    file_calls& calls = container_.calls();
    const short_name data = with_kind(index.view(), dropping_kind::data);
    const int opened = calls.open_at(container_.directory(), data.c_str(), O_RDONLY | O_NOFOLLOW, 0);
    if (opened < 0 && opened != -ENOENT) return opened;
    bool is_alone = false;  // not one that writers of a node share
    if (opened >= 0) {
        held_file held(calls);
        held.reset(opened);
        if (const int done = calls.sync(opened); done != 0) return done;
        struct stat file {};
        is_alone = calls.status(opened, file) == 0 && file.st_nlink == 1;
    } else if (const int done = sync_staged(index, here, how); done != 0) {
        return done;
    }
    if (how.is_named) return 0;
    uint32_t host_directory = 0;
    parse_host_directory(index.view().substr(0, index.view().find('/')), host_directory);
    if (const int done = container_.sync(host_directory); done != 0) return done;
    if (is_alone) container_.note_index_named(data.c_str());
    return 0;
}

/// What lies on the node's disk is durable in the container. (Data that are missing altogether nobody can sync.)
int other_writers::sync_staged(const short_name& index, const writer_identity& here, const durability& how) {
    file_calls& calls = container_.calls();
    staged_mark mark;
    const int marked = mark.read(container_, index.view());
    if (marked == -ENOENT || (marked == 0 && mark.host() != here.host_view())) return 0;
    if (marked != 0) return marked;
    char path[staged_path_room];
    mark.path_of(index.view(), path, sizeof path);
    const int from = calls.open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW, 0);
    if (from < 0) return from == -ENOENT ? 0 : from;
    held_file held(calls);
    held.reset(from);
    brought_data into(container_);
    if (const int done = into.open(index.view()); done != 0) return done;
    const int64_t begin = std::min(how.synced_bytes, how.state.data_bytes);
    if (const int done = into.copy(from, begin, how.state.data_bytes); done != 0) return done;
    if (const int done = into.sync(); done != 0) return done;
    // An agent has put it in its place meanwhile: it has no use any more.
    struct stat whole {};
    const short_name data = with_kind(index.view(), dropping_kind::data);
    if (calls.status_at(container_.directory(), data.c_str(), whole) == 0)
        calls.remove_at(container_.directory(), copied_name(index.view()).c_str(), false);
    return 0;
}

}  // namespace halcyon::logfs
