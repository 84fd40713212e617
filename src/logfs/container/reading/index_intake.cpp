#include "logfs/container/reading/index_intake.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/clock.hpp"
#include "logfs/container/directory/names_in.hpp"

namespace halcyon::logfs {

/// Takes what the scan finds in one dropping.
class index_intake::visitor final : public index_visitor {
  public:
    visitor(index_intake& in, uint32_t number)
        : in_(in), number_(number), has_known_damage_(in.writers_[number].has_damage) {}

    int comes(uint64_t bytes) override {
        in_.taken_bytes_ = bytes;
        return in_.watch_ == nullptr || in_.watch_->comes(bytes) ? 0 : -EAGAIN;
    }

    int take(const record& found) override {
        const run& what = found.what;
        in_.latest_ns_ = std::max(in_.latest_ns_, what.last_ns);
        bool taken = true;
        switch (found.kind) {
            case record_kind::run:
                taken = in_.index_.add(number_, what);
                break;
            case record_kind::hole:
                taken = in_.index_.add_hole(number_, what.start, what.length, what.first_ns);
                break;
            case record_kind::cut:
                taken = in_.index_.add_cut(number_, what.start, what.first_ns);
                break;
            case record_kind::reach:
                taken = in_.index_.add_reach(number_, what.start, what.first_ns);
                break;
            case record_kind::epoch:
                taken = !in_.wants_epochs_ || in_.writers_.note_epoch(in_.writers_[number_].group, what.first_ns);
                break;
            case record_kind::data_check:
                taken = !in_.wants_checks_ || in_.checks_.add(number_, what.length, found.sum);
                break;
        }
        return taken ? 0 : -ENOMEM;
    }

    /// Behind the last commit records may be missing after a crash of the node, and only then.
    bool found(const index_damage& what) override {
        using part = index_damage::part;
        const bool loses_records = what.what == part::block || what.what == part::missing_block;
        if (loses_records && !what.is_torn && in_.wants_checks_ && !in_.checks_.stop(number_)) return false;
        if (!in_.note_damage(number_, what, has_known_damage_)) return false;
        return in_.salvages_ || (what.is_torn && !in_.is_of_this_boot(in_.writers_[number_]));
    }

  private:
    index_intake& in_;
    uint32_t number_;
    bool has_known_damage_;
};

index_intake::index_intake(container& from, memory_source& memory, open_files& files, dropping_table& writers,
                           merged_index& index, data_checks& checks)
    : container_(from),
      memory_(memory),
      files_(files),
      writers_(writers),
      index_(index),
      checks_(checks),
      scan_(from.calls(), memory),
      directories_(memory),
      lonely_data_(memory),
      live_(memory),
      open_(memory),
      damages_(memory) {}

void index_intake::set(const options& how) {
    salvages_ = how.salvages;
    wants_checks_ = how.wants_checks;
    wants_epochs_ = how.wants_epochs;
    if (how.stops_at_commit) scan_.stop_at_commit();
    dropping own;
    has_own_clock_ = !how.boot_id.empty() && writers_.note_clock(own, how.host, how.boot_id);
    own_clock_ = own.clock;
}

result<void> index_intake::reload() {
    if (auto done = list_container(); !done) return done;
    size_t kept = 0;
    advised_ = 0;
    for (size_t i = 0; i < open_.size(); ++i) {
        const uint32_t number = open_[i];
        advise_next(i + 1);
        if (auto done = take_new(number, container_.is_seen_late()); !done) {
            // What was not taken is looked at again.
            for (; i < open_.size(); ++i) open_[kept++] = open_[i];
            open_.cut(kept);
            return done;
        }
        const dropping& of = writers_[number];
        if (!of.is_closed && !of.is_gone) open_[kept++] = number;
    }
    open_.cut(kept);
    if (auto done = finish(); !done) return done;
    return check_lonely_data();
}

result<void> index_intake::reload_one(std::string_view path) {
    uint32_t number = writers_.find(path);
    if (number == dropping_table::none) {
        number = writers_.add(path);
        if (number == dropping_table::none || !open_.push(number))
            return failed(path, "cannot read the index", -ENOMEM);
    }
    if (auto done = take_new(number, false); !done) return done;
    return finish();
}

int index_intake::confirm(uint32_t number, file_identity& out) {
    file_calls& calls = container_.calls();
    dropping& of = writers_[number];
    // Not the one that is open: another may have its name.
    const int fd = calls.open_at(container_.directory(), writers_.name_of(number), O_RDONLY, 0);
    if (fd < 0) return fd;
    struct stat there {};
    int done = calls.status(fd, there);
    if (done == 0) done = scan_.confirm(fd, of);
    calls.close(fd);
    out = {there.st_dev, there.st_ino};
    return done;
}

bool index_intake::go_on(int64_t latest_ns) {
    latest_ns_ = latest_ns;
    for (uint32_t number = 0; number < writers_.size(); ++number) {
        const dropping& of = writers_[number];
        if (!of.is_closed && !of.is_gone && !open_.push(number)) return false;
        if (!live_.note(writers_, number)) return false;
    }
    return true;
}

void index_intake::start_over() {
    container_listing_ = {};
    directories_.clear();
    lonely_data_.clear();
    live_.clear();
    open_.clear();
    damages_.clear();
    latest_ns_ = 0;
}

result<void> index_intake::finish() {
    writers_.settle_epochs();
    if (!index_.settle()) return failed({}, "cannot merge the index", -ENOMEM);
    return {};
}

/// Two changes of a directory within one tick of its clock look like one: only a time that has been there for long says
/// that nothing was missed. A server's clock may not agree with this host's, though hardly by minutes.
bool index_intake::must_list(const struct stat& now, listing& last) {
    constexpr int64_t long_ns = 2'000'000'000;
    constexpr int64_t minutes_ns = 300'000'000'000;
    const bool is_same = now.st_mtim.tv_sec == last.changed.tv_sec && now.st_mtim.tv_nsec == last.changed.tv_nsec;
    if (is_same && last.is_settled) return false;
    const int64_t here_ns = monotonic_ns();
    if (!is_same) last.first_seen_ns = here_ns;
    last.changed = now.st_mtim;
    const int64_t changed_ns = int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
    last.is_settled = here_ns - last.first_seen_ns > long_ns || realtime_ns() - changed_ns > minutes_ns;
    return true;
}

/// Of a directory of the container. It may have changed on another host a moment ago.
int index_intake::status_of_directory(const char* name, struct stat& out) {
    file_calls& calls = container_.calls();
    return container_.is_seen_late() ? calls.status_now_at(container_.directory(), name, out)
                                     : calls.status_at(container_.directory(), name, out);
}

result<void> index_intake::list_container() {
    struct stat now {};
    if (const int done = status_of_directory(".", now); done != 0)
        return failed({}, "cannot look at the directory", done);
    if (must_list(now, container_listing_)) {
        const int done = names_in(container_.calls(), memory_, container_.directory(), ".", [&](std::string_view name) {
            uint32_t number = 0;
            if (!parse_host_directory(name, number)) return 0;
            for (const host_directory& each : directories_) {
                if (each.number == number) return 0;
            }
            return directories_.push({number, {}}) ? 0 : -ENOMEM;
        });
        if (done != 0) {
            container_listing_.is_settled = false;
            return failed({}, "cannot list", done);
        }
    }
    for (host_directory& each : directories_) {
        const short_name name = host_directory_name(each.number);
        // It may be a link to another backend: what is behind that counts.
        const short_name inside = short_name(name.view()).add("/.");
        if (const int done = status_of_directory(inside.c_str(), now); done != 0)
            return failed(name.view(), "cannot look at the directory", done);
        if (!must_list(now, each.last)) continue;
        if (auto done = list_host_directory(each.number); !done) {
            each.last.is_settled = false;
            return done;
        }
    }
    return {};
}

result<void> index_intake::list_host_directory(uint32_t number) {
    const short_name directory = host_directory_name(number);
    forget_lonely_data(directory.view());
    const auto look = [&](std::string_view name) {
        dropping_name parsed;
        if (!parse_dropping_name(name, parsed)) return 0;
        short_name path = directory;
        path.add("/").add(name);
        if (parsed.kind == dropping_kind::data) return note_data(path.view());
        if (writers_.find(path.view()) != dropping_table::none) return 0;
        const uint32_t added = writers_.add(path.view());
        return added != dropping_table::none && open_.push(added) ? 0 : -ENOMEM;
    };
    const int done = names_in(container_.calls(), memory_, container_.directory(), directory.c_str(), look);
    if (done != 0) return failed(directory.view(), "cannot list", done);
    return {};
}

void index_intake::forget_lonely_data(std::string_view directory) {
    size_t kept = 0;
    for (const short_name& each : lonely_data_) {
        const bool is_there = each.view().starts_with(directory) && each.view()[directory.size()] == '/';
        if (!is_there) lonely_data_[kept++] = each;
    }
    lonely_data_.cut(kept);
}

int index_intake::note_data(std::string_view path) {
    const uint32_t number = writers_.find(with_kind(path, dropping_kind::index).view());
    if (number != dropping_table::none && !writers_[number].is_gone) return 0;
    return lonely_data_.push(short_name(path)) ? 0 : -ENOMEM;
}

/// Data that no index names cannot be read: damage, unless a crash of the node has left them so. A writer begins with
/// an empty data dropping.
result<void> index_intake::check_lonely_data() {
    result<void> done;
    lost_ = {};
    size_t kept = 0;
    for (size_t i = 0; i < lonely_data_.size(); ++i) {
        const short_name name = lonely_data_[i];
        bool is_lonely = true;
        if (done.ok()) done = check_lonely(name, is_lonely);
        if (is_lonely) lonely_data_[kept++] = name;
    }
    lonely_data_.cut(kept);
    return done;
}

result<void> index_intake::check_lonely(const short_name& name, bool& is_lonely) {
    file_calls& calls = container_.calls();
    const short_name index = with_kind(name.view(), dropping_kind::index);
    struct stat data_file {};
    struct stat index_file {};
    const uint32_t known = writers_.find(index.view());
    is_lonely = known == dropping_table::none || writers_[known].is_gone;
    if (!is_lonely) return {};
    // The data first: where something is in them, there was an index by then.
    const int has_data = calls.status_at(container_.directory(), name.c_str(), data_file);
    const int has_index = calls.status_at(container_.directory(), index.c_str(), index_file);
    is_lonely = has_data != -ENOENT && has_index != 0;
    if (has_index == 0 && known == dropping_table::none) {
        // It was begun while the directory was listed: what is in it was not there when that began.
        const uint32_t added = writers_.add(index.view());
        if (added == dropping_table::none || !open_.push(added)) return failed(index.view(), "cannot read", -ENOMEM);
        return {};
    }
    if (!is_lonely || salvages_) return {};
    if (has_data != 0) return failed(name.view(), "cannot look at the file", has_data);
    if (data_file.st_size == 0) return {};
    if (has_index == -ENOENT && (data_file.st_mode & index_named) == 0) {
        ++lost_.droppings;
        lost_.bytes += data_file.st_size;
        return {};
    }
    return container_.damaged(name.view(), "its index dropping is missing, so nobody can say where its " +
                                               std::to_string(data_file.st_size) + " bytes belong");
}

/// The indexes of the next writers are read from the disk while this one's is merged, where they are long.
void index_intake::advise_next(size_t place) {
    constexpr uint64_t long_bytes = 65536;
    constexpr size_t ahead = 4;
    if (taken_bytes_ < long_bytes || files_.most() < 4 * ahead) return;
    const size_t end = std::min(place + ahead, open_.size());
    for (advised_ = std::max(advised_, place); advised_ < end; ++advised_) {
        const uint32_t number = open_[advised_];
        if (writers_[number].has_header) continue;
        const int fd = files_.get(index_key(number), container_.directory(), writers_.name_of(number));
        if (fd < 0) return;
        container_.calls().advise_soon(fd, 0, 0);
    }
}

/// `refreshes`: another host may have changed it a moment ago.
result<void> index_intake::take_new(uint32_t number, bool refreshes) {
    const std::string_view name = writers_.name_of(number);
    const int fd = files_.get(index_key(number), container_.directory(), name.data());
    dropping& of = writers_[number];
    if (fd == -ENOENT && of.state_sequence <= 1) {
        of.is_gone = true;
        return {};
    }
    if (fd < 0) return failed(name, "cannot open", fd);
    if (refreshes) static_cast<void>(container_.calls().refresh(fd));
    visitor takes(*this, number);
    const int done = scan_.go_on(fd, of, writers_, takes);
    if (of.is_closed) files_.close(index_key(number));
    if (done != 0) return failed(name, "cannot read", done);
    if (scan_.damage() && !salvages_) return damage_failure(number, scan_.damage());
    for (uint32_t i = 0; i < of.live_runs; ++i) latest_ns_ = std::max(latest_ns_, of.live[i].last_ns);
    if (!live_.note(writers_, number)) return failed(name, "cannot read the index", -ENOMEM);
    return {};
}

/// What a scan comes back to is known from the last time. False: no memory.
bool index_intake::note_damage(uint32_t dropping, const index_damage& what, bool may_be_known) {
    writers_[dropping].has_damage = true;
    if (may_be_known && !what.is_passed) {
        for (const found_damage& each : damages_) {
            const index_damage& known = each.what;
            if (each.dropping == dropping && known.what == what.what && known.offset == what.offset) return true;
        }
    }
    if (!damages_.empty() && damages_.back().dropping == dropping && damages_.back().what.join(what)) return true;
    return damages_.push({dropping, what});
}

failure index_intake::damage_failure(uint32_t dropping, const index_damage& what) const {
    std::string text = "offset " + std::to_string(what.offset) + ": " + what.description();
    if (what.what == index_damage::part::version)
        text += ": " + std::to_string(what.seen) + "; this release reads version " + std::to_string(format_version);
    else
        text += "; 'halcyon log check' says what that concerns";
    return container_.damaged(writers_.name_of(dropping), text);
}

failure index_intake::failed(std::string_view name, std::string_view what, int why) const {
    return container_.failed(name, what, -why);
}

}  // namespace halcyon::logfs
