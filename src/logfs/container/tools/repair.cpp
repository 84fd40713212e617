#include "logfs/container/tools/repair.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/directory/past_writes.hpp"
#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/tools/dropping_records.hpp"
#include "logfs/container/tools/process.hpp"
#include "logfs/container/writing/index_writer.hpp"
#include "logfs/container/writing/writer_identity.hpp"

namespace halcyon::logfs {
namespace {

/// `hostdir.3/damaged.index.…`.
short_name beside(std::string_view path, std::string_view prefix) {
    const size_t slash = path.rfind('/');
    short_name name(path.substr(0, slash + 1));
    return name.add(prefix).add(path.substr(slash + 1));
}

/// The part of a run that lies in the first `bytes` of its data dropping: none has a count of 0; the rest of an element
/// is a run of its own.
struct held_part {
    run whole;
    run rest;
};
held_part part_within(const run& what, int64_t bytes) {
    held_part held;
    if (what.physical >= bytes) return held;
    const int64_t elements = std::min(what.count, (bytes - what.physical) / what.length);
    if (elements > 0) {
        held.whole = what;
        held.whole.count = elements;
        if (elements < what.count) held.whole.last_ns = what.count > 1 ? what.time_of(elements - 1) : what.last_ns;
        if (elements == 1) held.whole.stride = 0;
    }
    const int64_t left = bytes - what.physical - elements * what.length;
    if (elements == what.count || left <= 0) return held;
    held.rest = what;
    held.rest.start = what.start_of(elements);
    held.rest.length = left;
    held.rest.stride = 0;
    held.rest.count = 1;
    held.rest.physical = what.physical + elements * what.length;
    // The times of a single extent are those of its bytes.
    if (what.is_pattern())
        held.rest.first_ns = held.rest.last_ns = what.time_of(elements);
    else
        held.rest.last_ns = what.first_ns + run::share(what.span_ns(), left, what.length);
    return held;
}

std::string describe(const index_damage& what) {
    std::string text = what.description();
    if (what.blocks > 1) text += ", and " + std::to_string(what.blocks - 1) + " behind it";
    return text;
}

class repairing {
  public:
    repairing(container& what, const repair_options& how)
        : container_(what), how_(how), me_(writer_identity::of_this_process()) {}

    result<repair_report> repair_all() {
        if (auto ours = container_.expect_ours(); !ours) return ours.why();
        std::vector<std::string> names;
        if (auto listed = list(names); !listed) return listed.why();
        for (const std::string& name : names) {
            auto done = one(name, names);
            if (!done) return done.why();
        }
        if (const int64_t end = past_writes(container_); end > 0) {
            auto done = put_aside(std::string(descriptor_name),
                                  "a program that Halcyon does not see wrote its " + std::to_string(end) + " bytes");
            if (!done) return done.why();
        }
        return std::move(report_);
    }

  private:
    result<void> list(std::vector<std::string>& names) {
        memory_source memory(container_.calls());
        const auto take = [&](std::string_view directory) {
            const auto look = [&](std::string_view name) {
                dropping_name parsed;
                if (parse_dropping_name(name, parsed))
                    names.push_back(std::string(directory) + "/" + std::string(name));
                return 0;
            };
            const std::string path(directory);
            return names_in(container_.calls(), memory, container_.directory(), path.c_str(), look);
        };
        const int done = names_in(container_.calls(), memory, container_.directory(), ".", [&](std::string_view name) {
            uint32_t number = 0;
            return parse_host_directory(name, number) ? take(name) : 0;
        });
        if (done != 0) return container_.failed({}, "cannot list", -done);
        std::sort(names.begin(), names.end());
        return {};
    }

    result<void> one(const std::string& name, const std::vector<std::string>& all) {
        dropping_name parsed;
        parse_dropping_name(std::string_view(name).substr(name.rfind('/') + 1), parsed);
        if (parsed.kind == dropping_kind::index) return index(name);
        const std::string index_name(with_kind(name, dropping_kind::index).view());
        const bool is_listed = std::binary_search(all.begin(), all.end(), index_name);
        return is_listed ? result<void>() : lonely_data(name, index_name);
    }

    void tell(std::string_view name, std::string_view what) {
        report_.done.push_back(std::string(container_.path()) + "/" + std::string(name) + ": " + std::string(what));
    }

    result<void> lonely_data(const std::string& name, const std::string& index_name) {
        struct stat file {};
        struct stat index_file {};
        file_calls& calls = container_.calls();
        if (calls.status_at(container_.directory(), name.c_str(), file) != 0 || file.st_size == 0) return {};
        // A writer may have begun since the names were listed: where there are data, there is an index by then.
        if (calls.status_at(container_.directory(), index_name.c_str(), index_file) == 0) return {};
        return put_aside(name, nameless(file.st_size));
    }

    static std::string nameless(int64_t bytes) { return "no index names its " + std::to_string(bytes) + " bytes"; }

    result<void> put_aside(const std::string& name, const std::string& why) {
        const short_name aside = beside(name, "damaged.");
        tell(name, why + ": put aside as " + std::string(aside.view()));
        if (how_.only_tells) return {};
        const int done = container_.calls().rename_at(container_.directory(), name.c_str(), container_.directory(),
                                                      aside.c_str(), 0);
        if (done != 0) return container_.failed(name, "cannot rename", -done);
        return {};
    }

    /// What lies elsewhere can be neither cut nor looked at: it has to be brought first.
    result<void> expect_brought(const std::string& name) const {
        staged_mark mark;
        const int marked = mark.read(container_, name);
        struct stat file {};
        const bool is_there = container_.calls().status_at(container_.directory(), data_name(name).c_str(), file) == 0;
        if (marked == -ENOENT || is_there) return {};
        return failure{
            error_kind::usage,
            std::string(container_.path()) + "/" + name + ": its data lie on node " + std::string(mark.host()) +
                ", and were not brought into the container yet; repair it after " + "'halcyon log drain' there",
            EBUSY};
    }

    result<void> index(const std::string& name) {
        const int64_t held_before = data_bytes(name);
        auto read = read_dropping(container_, name);
        if (!read) return read.why();
        // A writer that has not begun has no data. Where there are some, nothing of the index reached the disk.
        if (!read->is_begun)
            return held_before > 0 ? put_aside(std::string(data_name(name).view()), nameless(held_before))
                                   : result<void>();
        const int64_t held = data_bytes(name);
        const auto brought = expect_brought(name);
        const bool is_short = brought.ok() && held < read->state.data_bytes;
        if (read->damages.empty() && !is_short && !read->state.is_cut) return {};
        if (!brought) return brought;
        if (!how_.ignores_writers && read->state.is_closed != writer_ended && may_still_write(read->header))
            return failure{error_kind::usage,
                           std::string(container_.path()) + "/" + name + ": process " +
                               std::to_string(read->header.pid) + " still has it open; repair it after that has ended",
                           EBUSY};
        for (const index_damage& each : read->damages) {
            tell(name, "offset " + std::to_string(each.offset) + ": " + describe(each) +
                           (each.is_torn ? ", behind the last sync: cut" : ": what is sound is kept"));
        }
        if (std::any_of(read->damages.begin(), read->damages.end(),
                        [](const index_damage& each) { return !each.is_torn && each.data_to > each.data_from; }))
            ++report_.lost_records_in;
        // Sums follow one another: without one of them nobody knows what the next ones are of.
        if (!std::all_of(read->damages.begin(), read->damages.end(),
                         [](const index_damage& each) { return each.is_torn; })) {
            read->header.has_checks = 0;
            std::erase_if(read->records, [](const record& each) { return each.kind == record_kind::data_check; });
        }
        const std::vector<record> kept = within(read->records, held);
        if (is_short)
            tell(name, "its data dropping holds " + std::to_string(held) + " bytes: what reaches further is cut");
        if (how_.only_tells) return {};
        return rewrite(name, read->header, kept);
    }

    static short_name data_name(const std::string& name) { return with_kind(name, dropping_kind::data); }

    int64_t data_bytes(const std::string& name) {
        struct stat file {};
        file_calls& calls = container_.calls();
        const short_name data = data_name(name);
        // What another host wrote a moment ago would be cut.
        const int found = calls.status_now_at(container_.directory(), data.c_str(), file);
        return found == 0 ? int64_t{file.st_size} : 0;
    }

    /// A process of this boot of this host that is alive. Nothing is known of those elsewhere.
    bool may_still_write(const index_header& header) const {
        if (std::memcmp(header.host, me_.host, sizeof header.host) != 0) return false;
        // A header that is lost does not say which boot it was.
        const bool has_boot = header.boot_id[0] != 0;
        if (has_boot && std::memcmp(header.boot_id, me_.boot_id, sizeof header.boot_id) != 0) return false;
        return is_alive(header.pid);
    }

    std::vector<record> within(const std::vector<record>& records, int64_t held) {
        std::vector<record> kept;
        int64_t summed = 0;
        for (const record& each : records) {
            if (each.kind == record_kind::data_check) {
                summed += each.what.length;
                if (summed <= held) kept.push_back(each);
                continue;
            }
            if (each.kind != record_kind::run || each.what.physical_end() <= held) {
                kept.push_back(each);
                continue;
            }
            const held_part part = part_within(each.what, held);
            for (const run& some : {part.whole, part.rest}) {
                if (some.count == 0) continue;
                kept.push_back({record_kind::run, some, 0});
            }
            report_.cut_bytes += each.what.bytes() - part.whole.bytes() - part.rest.bytes();
        }
        return kept;
    }

    /// The new index takes the place of the old one, of which there is a copy by then.
    result<void> rewrite(const std::string& name, index_header header, const std::vector<record>& records) {
        file_calls& calls = container_.calls();
        const short_name fresh = beside(name, "repaired.");
        calls.remove_at(container_.directory(), fresh.c_str(), false);
        header.check = 0;
        header.check = check_of(header, 0);
        index_writer into(calls);
        // The new index says that all of it is on the device.
        int done = sync_data(name);
        if (done == 0) done = into.create(container_.directory(), fresh.c_str(), header, true);
        for (const record& each : records) {
            if (done == 0) done = into.add_again(each);
        }
        if (done == 0) done = into.commit(realtime_ns());
        if (into.is_open()) {
            const int closed = into.close();
            if (done == 0) done = closed;
        }
        if (done == 0) done = copy(name);
        if (done == 0)
            done = calls.rename_at(container_.directory(), fresh.c_str(), container_.directory(), name.c_str(), 0);
        uint32_t directory = 0;
        if (done == 0 && parse_host_directory(std::string_view(name).substr(0, name.find('/')), directory))
            done = container_.sync(directory);
        if (done != 0) {
            calls.remove_at(container_.directory(), fresh.c_str(), false);
            return container_.failed(name, "cannot repair", -done);
        }
        ++report_.rewritten;
        tell(name, "written anew with " + std::to_string(records.size()) + " records");
        return {};
    }

    int sync_data(const std::string& name) {
        file_calls& calls = container_.calls();
        const int fd = calls.open_at(container_.directory(), data_name(name).c_str(), O_RDONLY, 0);
        if (fd < 0) return fd == -ENOENT ? 0 : fd;
        const int done = calls.sync(fd);
        calls.close(fd);
        return done;
    }

    /// Beside it; a copy from an earlier repair stays.
    int copy(const std::string& name) {
        file_calls& calls = container_.calls();
        const int from = calls.open_at(container_.directory(), name.c_str(), O_RDONLY, 0);
        if (from < 0) return from;
        int into = -EEXIST;
        for (uint64_t copies = 1; into == -EEXIST; ++copies) {
            short_name to = beside(name, "damaged.");
            if (copies > 1) to.add("~").add(copies);
            into = calls.open_at(container_.directory(), to.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
        }
        int done = into < 0 ? into : 0;
        std::vector<std::byte> buffer(1 << 20);
        for (int64_t at = 0; done == 0;) {
            const iovec part{buffer.data(), buffer.size()};
            const int64_t bytes = calls.read_at(from, &part, 1, at);
            if (bytes <= 0) {
                done = static_cast<int>(bytes);
                break;
            }
            done = write_whole(calls, into, std::span(buffer).first(static_cast<size_t>(bytes)), at);
            at += bytes;
        }
        if (into >= 0) {
            if (done == 0) done = calls.sync(into);
            const int closed = calls.close(into);
            if (done == 0) done = closed;
        }
        calls.close(from);
        return done;
    }

    container& container_;
    repair_options how_;
    writer_identity me_;
    repair_report report_;
};

}  // namespace

result<repair_report> repair(container& what, const repair_options& how) {
    return repairing(what, how).repair_all();
}

}  // namespace halcyon::logfs
