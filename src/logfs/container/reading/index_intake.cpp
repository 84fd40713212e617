#include "logfs/container/reading/index_intake.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/clock.hpp"
#include "logfs/container/directory/names_in.hpp"

namespace halcyon::logfs {

/// Takes what the scan finds in one dropping.
class index_intake::visitor final : public index_visitor {
  public:
    visitor(index_intake& in, uint32_t number) : in_(in), number_(number) {}

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
                taken = in_.writers_.note_epoch(in_.writers_[number_].group, what.first_ns);
                break;
            case record_kind::data_check:
                taken = !in_.wants_checks_ || in_.checks_.add(number_, what.length, found.sum);
                break;
        }
        return taken ? 0 : -ENOMEM;
    }

    /// Behind the last commit records may be missing after a crash of the node, and only then.
    bool found(const index_damage& what) override {
        if (!in_.note_damage(number_, what)) return false;
        if (in_.salvages_) return true;
        const dropping& of = in_.writers_[number_];
        return what.is_torn && !(in_.has_own_clock_ && of.clock == in_.own_clock_);
    }

  private:
    index_intake& in_;
    uint32_t number_;
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
    if (how.stops_at_commit) scan_.stop_at_commit();
    dropping own;
    has_own_clock_ = !how.boot_id.empty() && writers_.note_clock(own, how.host, how.boot_id);
    own_clock_ = own.clock;
}

result<void> index_intake::reload() {
    known_lonely_ = lonely_data_.size();
    if (auto done = list_container(); !done) return done;
    size_t kept = 0;
    for (size_t i = 0; i < open_.size(); ++i) {
        const uint32_t number = open_[i];
        if (auto done = take_new(number); !done) {
            // What was not taken is looked at again.
            for (; i < open_.size(); ++i) open_[kept++] = open_[i];
            open_.cut(kept);
            return done;
        }
        const dropping& of = writers_[number];
        if (!note_live(number)) return failed({}, "cannot read the index", -ENOMEM);
        if (!of.is_closed && !of.is_gone) open_[kept++] = number;
    }
    open_.cut(kept);
    if (!index_.settle()) return failed({}, "cannot merge the index", -ENOMEM);
    return find_lonely_data();
}

result<void> index_intake::reload_one(std::string_view path) {
    uint32_t number = writers_.find(path);
    if (number == dropping_table::none) {
        number = writers_.add(path);
        if (number == dropping_table::none || !open_.push(number))
            return failed(path, "cannot read the index", -ENOMEM);
    }
    if (auto done = take_new(number); !done) return done;
    if (!note_live(number) || !index_.settle()) return failed(path, "cannot merge the index", -ENOMEM);
    return {};
}

/// False: no memory.
bool index_intake::note_live(uint32_t number) {
    dropping& of = writers_[number];
    const bool is_live = of.live_runs > 0;
    if (is_live == of.is_listed_live) return true;
    if (is_live && !live_.push(number)) return false;
    of.is_listed_live = is_live;
    if (is_live) return true;
    *std::find(live_.begin(), live_.end(), number) = live_.back();
    live_.pop();
    return true;
}

/// Two changes of a directory within one tick of its clock look like one: only a time that has passed for long says
/// that nothing was missed.
bool index_intake::is_settled(const struct stat& of) {
    constexpr int64_t long_ns = 2'000'000'000;
    const int64_t changed_ns = int64_t{of.st_mtim.tv_sec} * 1'000'000'000 + of.st_mtim.tv_nsec;
    return realtime_ns() - changed_ns > long_ns;
}

result<void> index_intake::list_container() {
    const auto same = [](const timespec& a, const timespec& b) {
        return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
    };
    struct stat now {};
    if (const int done = container_.calls().status(container_.directory(), now); done != 0)
        return failed({}, "cannot look at the directory", done);
    if (!container_is_settled_ || !same(now.st_mtim, container_changed_)) {
        container_is_settled_ = is_settled(now);
        container_changed_ = now.st_mtim;
        const int done = names_in(container_.calls(), memory_, container_.directory(), ".", [&](std::string_view name) {
            uint32_t number = 0;
            if (!parse_host_directory(name, number)) return 0;
            for (const listed& each : directories_) {
                if (each.number == number) return 0;
            }
            return directories_.push({number, {}, false}) ? 0 : -ENOMEM;
        });
        if (done != 0) {
            container_is_settled_ = false;
            return failed({}, "cannot list", done);
        }
    }
    for (listed& each : directories_) {
        const short_name name = host_directory_name(each.number);
        struct stat directory {};
        if (const int done = container_.calls().status_at(container_.directory(), name.c_str(), directory); done != 0)
            return failed(name.view(), "cannot look at the directory", done);
        if (each.is_settled && same(directory.st_mtim, each.changed)) continue;
        each.is_settled = is_settled(directory);
        each.changed = directory.st_mtim;
        if (auto done = list_host_directory(each); !done) {
            each.is_settled = false;
            return done;
        }
    }
    return {};
}

result<void> index_intake::list_host_directory(listed& which) {
    const short_name directory = host_directory_name(which.number);
    const auto look = [&](std::string_view name) {
        dropping_name parsed;
        if (!parse_dropping_name(name, parsed)) return 0;
        short_name path = directory;
        path.add("/").add(name);
        if (parsed.kind == dropping_kind::data) return note_data(path.view());
        if (writers_.find(path.view()) != dropping_table::none) return 0;
        const uint32_t number = writers_.add(path.view());
        return number != dropping_table::none && open_.push(number) ? 0 : -ENOMEM;
    };
    const int done = names_in(container_.calls(), memory_, container_.directory(), directory.c_str(), look);
    if (done != 0) return failed(directory.view(), "cannot list", done);
    return {};
}

int index_intake::note_data(std::string_view path) {
    const short_name index = with_kind(path, dropping_kind::index);
    if (writers_.find(index.view()) != dropping_table::none) return 0;
    for (size_t i = 0; i < known_lonely_; ++i) {
        if (lonely_data_[i].view() == path) return 0;
    }
    return lonely_data_.push(short_name(path)) ? 0 : -ENOMEM;
}

/// Data that no index names, and that are more than a writer leaves that has not got to its index: they cannot be read.
result<void> index_intake::find_lonely_data() {
    size_t kept = 0;
    for (size_t i = 0; i < lonely_data_.size(); ++i) {
        const short_name name = lonely_data_[i];
        if (writers_.find(with_kind(name.view(), dropping_kind::index).view()) != dropping_table::none) continue;
        lonely_data_[kept++] = name;
        struct stat file {};
        const int done = container_.calls().status_at(container_.directory(), name.c_str(), file);
        if (done == -ENOENT) {
            --kept;
        } else if (done == 0 && file.st_size > 0 && !salvages_) {
            for (++i; i < lonely_data_.size(); ++i) lonely_data_[kept++] = lonely_data_[i];
            lonely_data_.cut(kept);
            return container_.damaged(name.view(), "its index dropping is missing, so nobody can say where its " +
                                                       std::to_string(file.st_size) + " bytes belong");
        }
    }
    lonely_data_.cut(kept);
    return {};
}

result<void> index_intake::take_new(uint32_t number) {
    const std::string_view name = writers_.name_of(number);
    const int fd = files_.get(index_key(number), container_.directory(), name.data());
    dropping& of = writers_[number];
    if (fd == -ENOENT && of.state_sequence <= 1) {
        of.is_gone = true;
        return {};
    }
    if (fd < 0) return failed(name, "cannot open", fd);
    visitor takes(*this, number);
    const int done = scan_.go_on(fd, of, writers_, takes);
    if (of.is_closed) files_.close(index_key(number));
    if (done != 0) return failed(name, "cannot read", done);
    if (scan_.damage() && !salvages_) return damage_failure(number, scan_.damage());
    for (uint32_t i = 0; i < of.live_runs; ++i) latest_ns_ = std::max(latest_ns_, of.live[i].last_ns);
    return {};
}

/// False: no memory.
bool index_intake::note_damage(uint32_t dropping, const index_damage& what) {
    for (const found_damage& each : damages_) {
        if (each.dropping == dropping && each.what.what == what.what && each.what.offset == what.offset) return true;
    }
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
