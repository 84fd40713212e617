#include "logfs/container/tools/check.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/units.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/directory/past_writes.hpp"
#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/data_files.hpp"
#include "logfs/container/reading/held_view.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/data_parts.hpp"
#include "logfs/container/tools/stats.hpp"

namespace halcyon::logfs {
namespace {

using weight = check_finding::weight;

std::string range(int64_t from, int64_t to) {
    return std::to_string(from) + " to " + std::to_string(to);
}

class checking {
  public:
    checking(container& what, const check_options& how) : container_(what), how_(how), reader_(what, reading(how)) {}

    result<check_report> check_all() {
        if (auto ours = container_.expect_ours(); !ours) return ours.why();
        if (auto read = reader_.reload(); !read) return read.why();
        if (how_.reads_data) {
            if (auto held = reader_.hold(); !held) return held.why();
        }
        report_.size = reader_.size();
        names_of_container();
        for (uint32_t i = 0; i < reader_.writers().size(); ++i) {
            ++report_.writers;
            writer(i);
        }
        for (const found_damage& each : reader_.damages()) damage(each);
        if (auto found = damaged_data(); !found) return found.why();
        if (how_.finds_conflicts) {
            if (auto found = conflicts(); !found) return found.why();
        }
        return std::move(report_);
    }

  private:
    static reader_options reading(const check_options& what) {
        reader_options how;
        how.salvages = true;
        how.finds_conflicts = what.finds_conflicts;
        return how;
    }

    void add(weight how, std::string_view where, std::string what, std::string concerns = {}) {
        report_.findings.push_back({how, std::string(where), std::move(what), std::move(concerns)});
    }

    void names_of_container() {
        const auto look = [&](std::string_view name) {
            uint32_t number = 0;
            if (parse_host_directory(name, number)) {
                names_of_host_directory(number);
            } else if (name == punched_name) {
                is_punched_ = read_generation(container_) != 0;
                if (is_punched_)
                    add(weight::note, name,
                        "dead extents were given back; where records are lost, older bytes read as zeros");
            } else if (name == descriptor_name) {
                if (const int64_t end = past_writes(container_); end > 0)
                    add(weight::damage, name, "a program that Halcyon does not see wrote to a descriptor of the file",
                        "nobody can say where the " + format_bytes(end) + " belong");
            } else if (name != marker_name && name != append_lock_name && name != times_name &&
                       !name.starts_with(begun_link_prefix)) {
                add(weight::note, name, "no file of a container");
            }
            return 0;
        };
        if (const int done = names_in(container_.calls(), reader_.memory(), container_.directory(), ".", look);
            done != 0)
            add(weight::damage, {}, "its directory cannot be listed: " + std::string(std::strerror(-done)));
    }

    void names_of_host_directory(uint32_t number) {
        const short_name directory = host_directory_name(number);
        const auto look = [&](std::string_view name) {
            short_name path = directory;
            path.add("/").add(name);
            dropping_name parsed;
            if (!parse_dropping_name(name, parsed)) {
                if (!is_staged_name(name) && name != owner_name && !name.starts_with(node_prefix))
                    add(weight::note, path.view(), "no dropping");
            } else if (parsed.kind == dropping_kind::data &&
                       reader_.writers().find(with_kind(path.view(), dropping_kind::index).view()) ==
                           dropping_table::none) {
                lonely_data(path);
            }
            return 0;
        };
        const int done =
            names_in(container_.calls(), reader_.memory(), container_.directory(), directory.c_str(), look);
        if (done != 0) add(weight::damage, directory.view(), "cannot be listed: " + std::string(std::strerror(-done)));
    }

    void lonely_data(const short_name& path) {
        struct stat file {};
        struct stat index {};
        file_calls& calls = container_.calls();
        if (calls.status_at(container_.directory(), path.c_str(), file) != 0) return;
        // Its writer may have begun a moment ago.
        const short_name index_name = with_kind(path.view(), dropping_kind::index);
        if (calls.status_at(container_.directory(), index_name.c_str(), index) == 0) return;
        if (file.st_size == 0) return add(weight::note, path.view(), "its writer ended before it began an index");
        std::string concerns = "nobody can say where its " + format_bytes(file.st_size) + " belong";
        if ((file.st_mode & index_named) != 0)
            add(weight::damage, path.view(), "its index dropping is missing", std::move(concerns));
        else
            add(weight::loss, path.view(), "its index never reached the device, as after a crash", std::move(concerns));
    }

    void writer(uint32_t number) {
        const dropping& of = reader_.writers()[number];
        const std::string_view name = reader_.writers().name_of(number);
        if (of.is_gone) return;
        const short_name data = reader_.writers().data_name_of(number);
        struct stat file {};
        const int found = container_.calls().status_now_at(container_.directory(), data.c_str(), file);
        if (!of.has_header) {
            if (!of.has_damage && found == 0 && file.st_size > 0)
                add(weight::loss, name, "nothing of it is on the device, as after a crash",
                    "nobody can say where the " + format_bytes(file.st_size) + " of " + std::string(data.view()) +
                        " belong");
            return;
        }
        if (!of.is_closed && !of.rests) {
            ++report_.open_writers;
            add(weight::note, name,
                "process " + std::to_string(of.pid) + " did not close it: it writes, or was killed");
        }
        if (found != 0 && is_staged(number, data)) return;
        if (found != 0 && of.data_bytes > 0) {
            add(weight::damage, data.view(), "cannot be found: " + std::string(std::strerror(-found)),
                format_bytes(of.data_bytes) + " that were written");
            return;
        }
        if (found != 0) return;
        if (file.st_size < of.committed_bytes)
            add(weight::damage, data.view(), "it is shorter than at its writer's last sync",
                "bytes " + range(file.st_size, of.committed_bytes) + " of it");
        const int64_t missing_from = std::max<int64_t>(file.st_size, of.committed_bytes);
        if (missing_from < of.data_bytes)
            add(weight::loss, data.view(), "it is shorter than its index says, as after a crash",
                "bytes " + range(missing_from, of.data_bytes) + " of it");
        // Of a file that the writers of a node share, the rest is the others'.
        if (file.st_size > of.data_bytes && file.st_nlink == 1)
            add(weight::note, data.view(),
                "a write was cut short behind byte " + std::to_string(of.data_bytes) + ": it was never acknowledged");
        if (how_.reads_data && of.has_checks) data_sums(number, data, std::min<int64_t>(file.st_size, of.data_bytes));
    }

    /// Data that were not brought into the container yet: whether they are there, where they can be seen from here.
    bool is_staged(uint32_t number, const short_name& data) {
        staged_mark mark;
        const int marked = mark.read(container_, data.view());
        if (marked == -ENOENT) return false;
        const dropping& of = reader_.writers()[number];
        if (marked != 0) {
            add(weight::damage, staged_name(data.view()).view(),
                "cannot be read: " + std::string(std::strerror(-marked)),
                format_bytes(of.data_bytes) + " that were written");
            return true;
        }
        data_files files(container_, reader_.files(), reader_.writers());
        int64_t end = 0;
        const int fd = files.get(number, end);
        struct stat file {};
        const bool is_here = fd >= 0 && end == INT64_MAX && container_.calls().status(fd, file) == 0;
        const std::string where = std::string(mark.host()) + ", in " + mark.folder();
        if (!is_here) {
            add(weight::note, data.view(),
                "lies on node " + where + "; of it, " + format_bytes(of.committed_bytes) + " are in the container",
                of.data_bytes > of.committed_bytes ? format_bytes(of.data_bytes - of.committed_bytes) + " of it" : "");
            return true;
        }
        if (file.st_size < of.data_bytes)
            add(file.st_size < of.committed_bytes ? weight::damage : weight::loss, data.view(),
                "what lies on node " + where + ", is shorter than its index says",
                "bytes " + range(file.st_size, of.data_bytes) + " of it");
        else
            add(weight::note, data.view(), "lies on node " + where + ", and was not brought into the container yet");
        if (how_.reads_data && of.has_checks) data_sums(number, data, std::min<int64_t>(file.st_size, of.data_bytes));
        return true;
    }

    void data_sums(uint32_t number, const short_name& data, int64_t bytes) {
        data_files files(container_, reader_.files(), reader_.writers());
        int64_t end = 0;
        const int fd = files.get(number, end);
        if (fd < 0) return add(weight::damage, data.view(), "cannot be opened: " + std::string(std::strerror(-fd)));
        const int64_t summed = std::min(reader_.checks().summed(number), bytes);
        for (int64_t at = 0; at < summed;) {
            const data_checks::finding found = reader_.checks().check(number, fd, at, summed);
            if (found.what == data_checks::verdict::fits) break;
            const bool is_read = found.what == data_checks::verdict::damaged;
            damaged_.push_back({parts_.add(number, found.begin, found.end), std::string(data.view()),
                                "bytes " + range(found.begin, found.end) + " of it",
                                is_read ? "its bytes do not fit their check sum"
                                        : "cannot be read: " + std::string(std::strerror(-found.error))});
            at = found.end;
        }
        report_.checked_bytes += summed;
    }

    /// Where the file reads data that are not as they were. What it does not read may have been given back.
    result<void> damaged_data() {
        if (parts_.empty()) return {};
        if (auto found = parts_.find(reader_); !found) return found;
        for (damaged_part& each : damaged_) {
            if (is_punched_ && !parts_.is_read(each.part)) continue;
            add(weight::damage, each.where, std::move(each.what), each.bytes + ": " + parts_.describe(each.part));
        }
        return {};
    }

    void damage(const found_damage& found) {
        const index_damage& what = found.what;
        const std::string_view name = reader_.writers().name_of(found.dropping);
        std::string text = "offset " + std::to_string(what.offset) + ": " + what.description();
        if (what.what == index_damage::part::version) text += " (" + std::to_string(what.seen) + ")";
        if (what.blocks > 1) text += ", and " + std::to_string(what.blocks - 1) + " behind it";
        std::string concerns;
        if (what.what == index_damage::part::header || what.what == index_damage::part::magic)
            concerns = reader_.writers()[found.dropping].has_header ? "nothing: the copy of its header is sound"
                                                                    : "all that this writer wrote";
        if (what.what == index_damage::part::state) concerns = "at most its last write; it is in the other state, too";
        if (what.data_to > what.data_from)
            concerns = "where bytes " + range(what.data_from, what.data_to) + " of its data dropping belong";
        add(what.is_torn ? weight::loss : weight::damage, name, std::move(text), std::move(concerns));
    }

    result<void> conflicts() {
        std::string first;
        for (int64_t at = 0; at < report_.size;) {
            const auto found = reader_.segments(at, report_.size);
            if (!found) return found.why();
            at = found->back().end();
            report_.conflict_bytes += bytes_of(reader_.conflicts());
            if (first.empty() && !reader_.conflicts().empty()) first = text_of(reader_.conflicts().front());
        }
        if (report_.conflict_bytes > 0)
            add(weight::note, {}, "writers wrote the same bytes at times that do not say which was last",
                format_bytes(report_.conflict_bytes) + " of the file, " + first);
        return {};
    }

    std::string text_of(const conflict& of) const {
        const auto data_of = [this](uint32_t writer) {
            return std::string(reader_.writers().data_name_of(writer).view());
        };
        return "from byte " + std::to_string(of.start) + " on: those of " + data_of(of.shown) +
               " are read, and not those of " + data_of(of.hidden);
    }

    struct damaged_part {
        size_t part;  ///< among parts_
        std::string where;
        std::string bytes;
        std::string what;
    };

    container& container_;
    check_options how_;
    reader reader_;
    check_report report_;
    data_parts parts_;
    std::vector<damaged_part> damaged_;
    bool is_punched_ = false;
};

}  // namespace

uint64_t check_report::count(check_finding::weight how) const {
    return static_cast<uint64_t>(
        std::count_if(findings.begin(), findings.end(), [&](const check_finding& each) { return each.how == how; }));
}

result<check_report> check(container& what, const check_options& how) {
    return checking(what, how).check_all();
}

std::string describe(const check_finding& what) {
    std::string text = what.how == weight::damage ? "damage: " : what.how == weight::loss ? "loss: " : "note: ";
    if (!what.where.empty()) text += what.where + ": ";
    text += what.what;
    if (!what.concerns.empty()) text += "; it concerns " + what.concerns;
    return text;
}

}  // namespace halcyon::logfs
