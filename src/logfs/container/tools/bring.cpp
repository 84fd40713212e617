#include "logfs/container/tools/bring.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/replace_file.hpp"
#include "base/text_file.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/format.hpp"
#include "logfs/container/reading/head_reader.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/process.hpp"
#include "logfs/container/writing/writer_identity.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;

constexpr int64_t piece_bytes = int64_t{4} << 20;
/// So much is copied again at most where it was cut short.
constexpr int64_t between_syncs_bytes = int64_t{256} << 20;

/// Beside the data on the node's disk: how many bytes of them are in the container, and on its device.
constexpr std::string_view note_suffix = ".brought";
std::string note_of(const std::string& data) {
    return data + std::string(note_suffix);
}

int64_t read_note(const std::string& data) {
    const auto text = read_text_file(note_of(data));
    int64_t bytes = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), bytes).ec != std::errc()) return 0;
    return std::max<int64_t>(bytes, 0);
}

/// For a writer that has ended: its index says that it is on the device, as that writer's own last sync would have
/// done.
int commit_for_writer(container& in, const char* index, uint64_t salt, int64_t data_bytes) {
    file_calls& calls = in.calls();
    const int opened = calls.open_at(in.directory(), index, O_RDWR | O_NOFOLLOW, 0);
    if (opened < 0) return opened;
    const descriptor held(opened);
    alignas(8) std::byte head[block_bytes];
    const int64_t bytes = read_whole(calls, opened, head, 0);
    if (bytes < 0) return static_cast<int>(bytes);
    if (bytes < static_cast<int64_t>(block_bytes)) return 0;
    state_slot state = slots_in<state_slot>(head, salt).newer;
    const commit_slot last = slots_in<commit_slot>(head, salt).newer;
    // Records first: a commit that names what is not on the disk would be a lie. Of a damaged index nothing is said.
    if (const int done = calls.sync(opened); done != 0) return done;
    if (state.sequence == 0 || state.data_bytes > data_bytes || state.runs > 0) return 0;
    commit_slot mine = last;
    if (last.sequence == 0 || last.data_bytes != state.data_bytes || !(last.end == state.end)) {
        mine.sequence = std::max(last.sequence, state.synced_commit) + 1;
        mine.data_bytes = state.data_bytes;
        mine.committed_ns = realtime_ns();
        mine.state_sequence = state.sequence;
        mine.end = state.end;
        mine.check = check_of(mine, salt);
        const auto place = static_cast<int64_t>(commit_slot_at(mine.sequence));
        if (const int done = write_whole(calls, opened, bytes_of(mine), place); done != 0) return done;
        if (const int done = calls.sync(opened); done != 0) return done;
    } else if (state.synced_commit >= last.sequence) {
        return 0;
    }
    // A commit counts when a state says that a sync followed it: both slots do, as the writer's close() leaves them.
    state.synced_commit = mine.sequence;
    for (int slot = 0; slot < 2; ++slot) {
        ++state.sequence;
        state.check = check_of(state, salt);
        const auto place = static_cast<int64_t>(state_slot_at(state.sequence));
        if (const int done = write_whole(calls, opened, bytes_of(state), place); done != 0) return done;
    }
    return 0;
}

class bringing {
  public:
    bringing(container& into, const bring_options& how)
        : container_(into), how_(how), me_(writer_identity::of_this_process()), reader_(into, reading()) {}

    result<bring_report> all() {
        if (container_.is_plfs()) return report_;
        if (auto read = reader_.reload(); !read) return read.why();
        result<void> done;
        for (uint32_t i = 0; i < reader_.writers().size(); ++i) {
            auto one = dropping_of(i);
            if (!one && one.why().system_errno == ECANCELED) return one.why();
            if (!one && done.ok()) done = one;
        }
        remove_lonely_marks();
        if (!done) return done.why();
        return std::move(report_);
    }

  private:
    /// Of writers that were killed before they began an index: nothing was written.
    void remove_lonely_marks() {
        std::vector<short_name> lonely;
        const auto look = [&](const short_name& folder, std::string_view name) {
            if (!name.starts_with(staged_prefix)) return;
            const short_name data = with_kind(short_name(folder.view()).add("/").add(name).view(), dropping_kind::data);
            if (reader_.writers().find(with_kind(data.view(), dropping_kind::index).view()) == dropping_table::none)
                lonely.push_back(data);
        };
        file_calls& calls = container_.calls();
        names_in(calls, reader_.memory(), container_.directory(), ".", [&](std::string_view found) {
            uint32_t number = 0;
            if (!parse_host_directory(found, number)) return 0;
            const short_name folder(found);
            names_in(calls, reader_.memory(), container_.directory(), folder.c_str(), [&](std::string_view name) {
                look(folder, name);
                return 0;
            });
            return 0;
        });
        for (const short_name& data : lonely) remove_lonely_mark(data);
    }

    void remove_lonely_mark(const short_name& data) {
        dropping_name name;
        staged_mark mark;
        struct stat there {};
        file_calls& calls = container_.calls();
        if (!parse_dropping_name(data.view().substr(data.view().rfind('/') + 1), name)) return;
        const int marked = mark.read(container_, data.view());
        // A mark that was not written to its end does not say it, but its name does.
        if ((marked == 0 ? mark.host() : name.host) != reading().host) return;
        // Its writer is asked for first: what that has begun before it ended is there then.
        if (is_alive(name.pid) || is_held_open(container_)) return;
        const short_name index = with_kind(data.view(), dropping_kind::index);
        if (calls.status_at(container_.directory(), index.c_str(), there) != -ENOENT) return;
        if (marked == 0)
            brought_data::discard(container_, data.view(), mark);
        else if (marked == -EIO)
            calls.remove_at(container_.directory(), staged_name(data.view()).c_str(), false);
    }

    reader_options reading() const {
        reader_options how;
        how.salvages = true;
        how.host = me_.host_view();
        how.boot_id = me_.boot_view();
        return how;
    }

    result<void> dropping_of(uint32_t number) {
        const std::string index = reader_.writers().name_of(number);
        staged_mark mark;
        const int marked = mark.read(container_, index);
        if (marked == -ENOENT) return {};
        if (marked != 0) return failed(staged_name(index), "cannot be read", marked);
        const dropping& of = reader_.writers()[number];
        const short_name data = with_kind(index, dropping_kind::data);
        struct stat there {};
        // All of it was brought, and whoever did that was killed before it said so.
        if (container_.calls().status_at(container_.directory(), data.c_str(), there) == 0) return finish(number, mark);
        char path[staged_path_room];
        mark.path_of(index, path, sizeof path);
        const descriptor from(::open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        if (!from) {
            report_.left.push_back({std::string(mark.host()), mark.folder(),
                                    std::max<int64_t>(of.data_bytes - of.committed_bytes, 0), false});
            return {};
        }
        if (!staged_mark::may_mean(container_, index, from.get()))
            return failure{error_kind::usage,
                           std::string(path) + ": of another user than its mark in " + std::string(container_.path()) +
                               "; with the mark's owner, it is brought",
                           EPERM};
        // Asked before its index is looked at: whatever it wrote before it ended is in there.
        const bool has_ended = is_over(number);
        if (auto read = reader_.reload_writer(index); !read) return read;
        if (of.is_gone) return {};
        const int64_t wanted = reader_.writers()[number].data_bytes;
        auto copied =
            copy(index, from.get(), path, std::max(reader_.writers()[number].committed_bytes, read_note(path)), wanted);
        if (!copied) return copied;
        if (has_ended) return finish(number, mark);
        report_.left.push_back({std::string(mark.host()), mark.folder(), 0, true});
        return {};
    }

    /// Nothing follows: its writer has closed it, or is known to have ended.
    [[nodiscard]] bool is_over(uint32_t number) const {
        const dropping& of = reader_.writers()[number];
        if (of.is_closed) return true;
        const std::string_view index = reader_.writers().name_of(number);
        dropping_name name;
        if (!parse_dropping_name(index.substr(index.rfind('/') + 1), name)) return false;
        // The data lie on this node: so did the writer. Before its header is there it is about to begin.
        if ((reader_.is_of_this_boot(number) || !of.has_header) && is_alive(name.pid)) return false;
        // Nor in a namespace whose processes have other numbers.
        return !is_held_open(container_);
    }

    /// What is not on the container's device yet, up to `wanted`.
    result<void> copy(const std::string& index, int from, const std::string& path, int64_t begin, int64_t wanted) {
        brought_data into(container_);
        if (const int done = into.open(index); done != 0) return failed(copied_name(index), "cannot be created", done);
        const int64_t there = into.size();
        if (there < 0) return failed(copied_name(index), "cannot be looked at", static_cast<int>(there));
        begin = std::min({begin, there, wanted});
        if (how_.on_begin)
            how_.on_begin(wanted - begin, std::string(container_.path()) + "/" + index.substr(0, index.rfind('/')));
        for (int64_t at = begin, synced = begin; at < wanted;) {
            const int64_t end = std::min(at + piece_bytes, wanted);
            if (how_.before_write) how_.before_write(end - at);
            if (const int done = into.copy(from, at, end); done != 0)
                return failed(copied_name(index), "cannot be written", done);
            report_.brought_bytes += end - at;
            at = end;
            if (how_.on_progress && !how_.on_progress(report_.brought_bytes))
                return failure{error_kind::unavailable, std::string(container_.path()) + ": stopped", ECANCELED};
            if (at < wanted && at - synced < between_syncs_bytes) continue;
            if (const int done = into.sync(); done != 0) return failed(copied_name(index), "cannot be synced", done);
            synced = at;
            // Without the note more is copied again.
            static_cast<void>(replace_file(note_of(path), std::to_string(synced)));
        }
        // Of nothing, too: it takes the place of the data dropping.
        if (const int done = into.sync(); done != 0) return failed(copied_name(index), "cannot be synced", done);
        return {};
    }

    result<void> finish(uint32_t number, const staged_mark& mark) {
        const std::string index = reader_.writers().name_of(number);
        const dropping& of = reader_.writers()[number];
        if (of.has_header && !of.has_damage) {
            const int done = commit_for_writer(container_, index.c_str(), of.salt, of.data_bytes);
            // Another user's: it is as durable as it was.
            if (done != 0 && done != -EACCES) return failed(short_name(index), "cannot be synced", done);
        }
        char path[staged_path_room];
        mark.path_of(index, path, sizeof path);
        ::unlink(note_of(path).c_str());
        if (const int done = brought_data::finish(container_, index, mark); done != 0)
            return failed(copied_name(index), "cannot take its place", done);
        ++report_.finished;
        return {};
    }

    [[nodiscard]] failure failed(const short_name& what, std::string_view how, int why) const {
        return container_.failed(what.view(), how, -why);
    }

    container& container_;
    bring_options how_;
    writer_identity me_;
    reader reader_;
    bring_report report_;
};

/// Where a container was when something of it was staged first, as its folder there says.
struct staged_origin {
    std::string path;  ///< "": whoever is killed while it says that leaves it unsaid
    std::string inode;

    explicit staged_origin(const std::string& file) {
        const auto text = read_text_file(file);
        const size_t line = text ? text->find('\n') : std::string::npos;
        if (line == std::string::npos) return;
        path = text->substr(0, line);
        inode = text->substr(line + 1);
    }

    /// On the file system that is there now: one that is not mounted has no containers either.
    [[nodiscard]] bool is_below(const std::string& root) const {
        const size_t slash = path.rfind('/');
        struct stat folder {};
        return path.starts_with(root + "/") && ::stat(path.substr(0, slash).c_str(), &folder) == 0 &&
               inode == std::to_string(folder.st_ino) + "\n";
    }
};

/// Finds containers by what a stage calls them: where they were at first, or else among all that there are.
class named_containers {
  public:
    explicit named_containers(const std::vector<std::string>& all) : all_(all) {}

    /// The path of the one with this number; "": there is none. nullopt: nobody can tell, as some cannot be looked at.
    std::optional<std::string> find(const std::string& id, const std::string& first_path) {
        if (!first_path.empty() && id_at(first_path) == id) return first_path;
        if (!has_looked_) look_at_all();
        const auto found = paths_.find(id);
        if (found != paths_.end()) return found->second;
        return misses_some_ ? std::nullopt : std::optional<std::string>("");
    }

  private:
    void look_at_all() {
        has_looked_ = true;
        for (const std::string& path : all_) {
            if (std::string id = id_at(path); !id.empty()) paths_.emplace(std::move(id), path);
        }
    }

    /// "": there is none, or nobody can tell.
    std::string id_at(const std::string& path) {
        container one;
        const auto opened = one.open(path);
        if (opened.ok()) return std::to_string(one.id());
        const bool is_gone = opened.why().system_errno == ENOENT || opened.why().kind == error_kind::usage;
        misses_some_ = misses_some_ || !is_gone;
        return {};
    }

    const std::vector<std::string>& all_;
    std::map<std::string, std::string> paths_;
    bool has_looked_ = false;
    bool misses_some_ = false;
};

/// Whether the data of one writer may go: the container, if there still is one, has all of them.
bool is_left_over(container* of, const std::string& name) {
    dropping_name parsed;
    if (!parse_dropping_name(name, parsed) || parsed.kind != dropping_kind::data) return false;
    // Its writer may be about to say that it is there.
    if (is_alive(parsed.pid)) return false;
    if (of == nullptr) return true;
    memory_source memory(of->calls());
    bool has_mark = false;
    names_in(of->calls(), memory, of->directory(), ".", [&](std::string_view folder) {
        uint32_t number = 0;
        if (!parse_host_directory(folder, number)) return 0;
        struct stat there {};
        const short_name path = short_name(folder).add("/").add(name);
        if (of->calls().status_at(of->directory(), staged_name(path.view()).c_str(), there) == 0) has_mark = true;
        return 0;
    });
    return !has_mark;
}

}  // namespace

result<bring_report> bring(container& into, const bring_options& how) {
    return bringing(into, how).all();
}

void clean_stage(const std::string& stage, const std::string& root, const std::vector<std::string>& containers) {
    std::error_code why;
    const std::string all = stage + "/" + std::string(stage_folder);
    std::vector<std::string> folders;
    for (fs::directory_iterator at(all, why), end; !why && at != end; at.increment(why))
        folders.push_back(at->path().filename());
    named_containers known(containers);
    for (const std::string& id : folders) {
        const std::string folder = all + "/" + id;
        const staged_origin origin(folder + "/" + std::string(origin_name));
        const auto where = known.find(id, origin.path);
        if (!where || (where->empty() && !origin.is_below(root))) continue;
        container of;
        if (!where->empty() && !of.open(*where)) continue;
        std::vector<std::string> files;
        for (fs::directory_iterator at(folder, why), end; !why && at != end; at.increment(why))
            files.push_back(at->path().filename());
        size_t left = 0;
        for (const std::string& name : files) {
            if (name == origin_name) continue;
            const std::string path = folder + "/" + name;
            const bool is_lonely_note =
                name.ends_with(note_suffix) && !fs::exists(path.substr(0, path.size() - note_suffix.size()), why);
            if (is_lonely_note || is_left_over(where->empty() ? nullptr : &of, name)) {
                ::unlink(path.c_str());
                ::unlink(note_of(path).c_str());
            } else {
                ++left;
            }
        }
        if (left > 0) continue;
        ::unlink((folder + "/" + std::string(origin_name)).c_str());
        ::rmdir(folder.c_str());
    }
}

}  // namespace halcyon::logfs
