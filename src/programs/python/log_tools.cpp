// The tools of halcyon._logfs: what is done with whole containers, as dicts of what they found.
#include "programs/python/log_tools.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logfs/background/paced_work.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/directory/removed_container.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/conflict_words.hpp"
#include "logfs/container/tools/export_plfs.hpp"
#include "logfs/container/tools/punch.hpp"
#include "logfs/container/tools/remove.hpp"
#include "logfs/container/tools/rename.hpp"
#include "logfs/container/tools/repair.hpp"
#include "logfs/container/tools/stats.hpp"
#include "logfs/direct/files_of_process.hpp"
#include "programs/python/log_calls.hpp"
#include "programs/python/log_pace.hpp"

namespace nb = nanobind;

namespace halcyon::python {
namespace {

using logfs::container;
using logfs::segment;

/// What `use` makes of the container at `path`, without holding the interpreter.
template <class Use>
auto with_container(const nb::object& path, Use use) {
    using made = decltype(use(std::declval<container&>()));
    const std::string name = system_path(path);
    return without_interpreter(path, [&]() -> made {
        container what(logfs::files_of_process());
        if (auto opened = what.open(name); !opened) return opened.why();
        return use(what);
    });
}

bool is_container(const nb::object& path) {
    const std::string name = system_path(path);
    const nb::gil_scoped_release others_run;
    return container::is_at(logfs::files_of_process(), name);
}

const char* word_of(logfs::check_finding::weight how) {
    switch (how) {
        case logfs::check_finding::weight::note:
            return "note";
        case logfs::check_finding::weight::loss:
            return "loss";
        case logfs::check_finding::weight::damage:
            break;
    }
    return "damage";
}

nb::dict check(const nb::object& path, bool reads_data, bool finds_conflicts) {
    const auto report = with_container(path, [&](container& what) {
        return logfs::check(what, {reads_data, finds_conflicts});
    });
    nb::list findings;
    for (const logfs::check_finding& each : report.findings)
        findings.append(
            nb::make_tuple(word_of(each.how), as_text(each.where), as_text(each.what), as_text(each.concerns)));
    nb::dict found;
    found["findings"] = findings;
    found["writers"] = report.writers;
    found["open_writers"] = report.open_writers;
    found["size"] = report.size;
    found["conflict_bytes"] = report.conflict_bytes;
    found["checked_bytes"] = report.checked_bytes;
    return found;
}

nb::dict repair(const nb::object& path, bool only_tells, bool ignores_writers) {
    const auto report = with_container(path, [&](container& what) {
        return logfs::repair(what, {only_tells, ignores_writers});
    });
    nb::list done;
    for (const std::string& each : report.done) done.append(as_text(each));
    nb::dict told;
    told["done"] = done;
    told["rewritten"] = report.rewritten;
    told["lost_records_in"] = report.lost_records_in;
    told["cut_bytes"] = report.cut_bytes;
    return told;
}

nb::dict flatten(const nb::object& path, const nb::object& target, bool verifies, bool ignores_writers,
                 const nb::object& progress, log_pace* pace) {
    const std::string to = system_path(target);
    told_progress told(progress);
    logfs::flatten_options how;
    how.verifies_data = verifies;
    how.ignores_writers = ignores_writers;
    how.on_size = [&](int64_t size) { told.begin(size); };
    how.on_progress = [&](int64_t done) { return told.reach(done); };
    const auto report = with_container(path, [&](container& what) {
        return pace == nullptr ? logfs::flatten(what, to, how) : logfs::flatten_paced(what, to, how, pace->of());
    });
    nb::dict done;
    done["size"] = report.size;
    done["written_bytes"] = report.written_bytes;
    done["conflict_bytes"] = report.conflict_bytes;
    return done;
}

nb::dict bring(const nb::object& path, const nb::object& progress, log_pace* pace) {
    told_progress told(progress);
    int64_t wanted = 0;
    logfs::bring_options how;
    how.on_begin = [&](int64_t bytes, const std::string&) { told.begin(wanted += bytes); };
    how.on_progress = [&](int64_t done) { return told.reach(done); };
    const auto report = with_container(path, [&](container& what) {
        return pace == nullptr ? logfs::bring(what, how) : logfs::bring_paced(what, how, pace->of());
    });
    nb::list left;
    for (const logfs::staged_elsewhere& each : report.left)
        left.append(nb::make_tuple(as_text(each.host), as_text(each.folder), each.bytes, each.is_here));
    nb::dict done;
    done["brought_bytes"] = report.brought_bytes;
    done["finished"] = report.finished;
    done["left"] = left;
    return done;
}

nb::dict export_plfs(const nb::object& path, const nb::object& target, bool verifies, const nb::object& progress) {
    const std::string to = system_path(target);
    told_progress told(progress);
    logfs::export_options how;
    how.verifies_data = verifies;
    how.on_size = [&](int64_t size) { told.begin(size); };
    how.on_progress = [&](int64_t done) { return told.reach(done); };
    const auto report = with_container(path, [&](container& what) { return logfs::export_plfs(what, to, how); });
    nb::dict done;
    done["size"] = report.size;
    done["written_bytes"] = report.written_bytes;
    done["records"] = report.records;
    return done;
}

nb::dict punch(const nb::object& path, bool waits) {
    const auto report = with_container(path, [&](container& what) { return logfs::punch_dead(what, {waits}); });
    nb::dict done;
    done["dead_bytes"] = report.dead_bytes;
    done["punched_bytes"] = report.punched_bytes;
    done["is_held"] = report.is_held;
    return done;
}

void remove(const nb::object& path) {
    const std::string name = system_path(path);
    without_interpreter(path, [&] { return logfs::remove_container(name, logfs::files_of_process()); });
}

void rename(const nb::object& path, const nb::object& target) {
    const std::string name = system_path(path);
    const std::string to = system_path(target);
    without_interpreter(path, [&] { return logfs::rename_any(name, to, logfs::files_of_process()); });
}

bool remove_unused(const nb::object& path) {
    const std::string name = system_path(path);
    const nb::gil_scoped_release others_run;
    return logfs::remove_unused(logfs::files_of_process(), name.c_str(), logfs::wished_node_folder(),
                                logfs::without_locks::stays);
}

int64_t conflict_bytes(const nb::object& path) {
    return with_container(path, [](container& what) { return logfs::conflict_bytes(what); });
}

nb::object conflict_in_words(const nb::object& path, const std::string& amount, bool is_plain) {
    return as_text(logfs::conflict_in_words(path_of(path), amount, is_plain));
}

nb::dict stats(const nb::object& path) {
    bool is_plfs = false;
    const auto all = with_container(path, [&](container& what) {
        is_plfs = what.is_plfs();
        return logfs::stats(what);
    });
    nb::dict figures;
    figures["is_plfs"] = is_plfs;
    figures["size"] = all.size;
    figures["hole_bytes"] = all.hole_bytes;
    figures["segments"] = all.segments;
    figures["writers"] = all.writers;
    figures["open_writers"] = all.open_writers;
    figures["hosts"] = all.hosts;
    figures["writes"] = all.writes;
    figures["written_bytes"] = all.written_bytes;
    figures["data_bytes"] = all.data_bytes;
    figures["data_blocks_bytes"] = all.data_blocks_bytes;
    figures["durable_bytes"] = all.durable_bytes;
    figures["staged_bytes"] = all.staged_bytes;
    nb::list nodes;
    for (const std::string& each : all.staged_on) nodes.append(as_text(each));
    figures["staged_on"] = nodes;
    figures["index_bytes"] = all.index_bytes;
    figures["patterns"] = all.patterns;
    figures["extents"] = all.extents;
    figures["reader_bytes"] = all.reader_bytes;
    figures["conflict_bytes"] = all.conflict_bytes;
    figures["why_not_given_back"] = all.why_not_given_back < 0 ? std::strerror(-all.why_not_given_back) : "";
    return figures;
}

struct file_status {
    int64_t size = 0;
    int64_t written_ns = 0;  ///< 0: nothing was written
    struct stat mark {};
};

nb::dict status(const nb::object& path) {
    const auto found = with_container(path, [](container& what) -> result<file_status> {
        file_status file;
        logfs::reader from(what);
        if (auto read = from.reload(); !read) return read.why();
        file.size = from.size();
        file.written_ns = from.latest_ns();
        const char* const mark = what.access_name();
        if (const int done = what.calls().status_at(what.directory(), mark, file.mark); done != 0)
            return what.failed(mark, "cannot look at", -done);
        return file;
    });
    const int64_t created_ns = int64_t{found.mark.st_mtim.tv_sec} * 1'000'000'000 + found.mark.st_mtim.tv_nsec;
    nb::dict file;
    file["size"] = found.size;
    file["modified_ns"] = std::max(found.written_ns, created_ns);
    file["permissions"] = found.mark.st_mode & 07777;
    file["uid"] = found.mark.st_uid;
    file["gid"] = found.mark.st_gid;
    return file;
}

struct part_writer {
    std::string host;
    std::string data;  ///< dropping, relative to the container
    int64_t pid;
    int32_t rank;
    int64_t created_ns;
    bool is_closed;
};

struct mapped_file {
    int64_t size = 0;
    std::vector<segment> parts;
    std::vector<part_writer> writers;
    bool is_whole = true;  ///< of the range that was asked for
};

std::string_view host_of(std::string_view dropping) {
    dropping = dropping.substr(dropping.rfind('/') + 1);
    logfs::dropping_name name;
    if (logfs::parse_dropping_name(dropping, name)) return name.host;
    logfs::plfs_name of_plfs;
    return logfs::parse_plfs_name(dropping, of_plfs) ? of_plfs.host : std::string_view();
}

result<mapped_file> map_file(container& what, int64_t begin, int64_t end, size_t most) {
    mapped_file found;
    logfs::reader from(what);
    if (auto read = from.reload(); !read) return read.why();
    found.size = from.size();
    const int64_t until = end < 0 ? found.size : std::min(end, found.size);
    auto mapped = logfs::map(from, begin, until, [&](const segment& each) {
        found.is_whole = found.parts.size() < most;
        if (found.is_whole) found.parts.push_back(each);
        return found.is_whole;
    });
    if (!mapped) return mapped.why();
    for (uint32_t i = 0; i < from.writers().size(); ++i) {
        const logfs::dropping& each = from.writers()[i];
        found.writers.push_back({std::string(host_of(from.writers().name_of(i))),
                                 std::string(from.writers().data_name_of(i).view()), each.pid, each.rank,
                                 each.created_ns, each.is_closed || each.rests});
    }
    return found;
}

template <class Value>
nb::object column(const std::vector<segment>& parts, Value (*of)(const segment&)) {
    auto* values = new Value[parts.size()];
    std::transform(parts.begin(), parts.end(), values, of);
    const nb::capsule owner(values, [](void* held) noexcept { delete[] static_cast<Value*>(held); });
    return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values, {parts.size()}, owner));
}

nb::dict map(const nb::object& path, int64_t begin, int64_t end, size_t most) {
    const auto found = with_container(path, [&](container& what) { return map_file(what, begin, end, most); });
    nb::list writers;
    for (const part_writer& each : found.writers)
        writers.append(nb::make_tuple(as_text(each.host), each.pid, each.rank, each.created_ns, each.is_closed,
                                      as_text(each.data)));
    nb::dict mapped;
    mapped["size"] = found.size;
    mapped["is_whole"] = found.is_whole;
    mapped["start"] = column<int64_t>(found.parts, [](const segment& each) { return each.start; });
    mapped["length"] = column<int64_t>(found.parts, [](const segment& each) { return each.length; });
    mapped["physical"] = column<int64_t>(found.parts, [](const segment& each) { return each.physical; });
    mapped["writer"] = column<int64_t>(
        found.parts, [](const segment& each) { return each.is_hole() ? int64_t{-1} : int64_t{each.dropping}; });
    mapped["writers"] = writers;
    return mapped;
}

}  // namespace

void add_log_tools(nb::module_& m) {
    m.def("is_container", is_container, nb::arg("path"));
    m.def("status", status, nb::arg("path"));
    m.def("check", check, nb::arg("path"), nb::kw_only(), nb::arg("reads_data"), nb::arg("finds_conflicts"));
    m.def("repair", repair, nb::arg("path"), nb::kw_only(), nb::arg("only_tells"), nb::arg("ignores_writers"));
    m.def("flatten", flatten, nb::arg("path"), nb::arg("target"), nb::kw_only(), nb::arg("verifies"),
          nb::arg("ignores_writers"), nb::arg("progress").none(), nb::arg("pace").none());
    m.def("bring", bring, nb::arg("path"), nb::kw_only(), nb::arg("progress").none(), nb::arg("pace").none());
    m.def("export_plfs", export_plfs, nb::arg("path"), nb::arg("target"), nb::kw_only(), nb::arg("verifies"),
          nb::arg("progress").none());
    m.def("map", map, nb::arg("path"), nb::kw_only(), nb::arg("begin"), nb::arg("end"), nb::arg("most"),
          "`end` below 0: of the file.");
    m.def("stats", stats, nb::arg("path"));
    m.def("conflict_bytes", conflict_bytes, nb::arg("path"));
    m.def("conflict_in_words", conflict_in_words, nb::arg("path"), nb::arg("amount"), nb::arg("is_plain"));
    m.def("punch", punch, nb::arg("path"), nb::kw_only(), nb::arg("waits"));
    m.def("remove", remove, nb::arg("path"));
    m.def("rename", rename, nb::arg("path"), nb::arg("target"));
    m.def("remove_unused", remove_unused, nb::arg("path"));
}

}  // namespace halcyon::python
