#include "offload/output/output_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "base/directory_claim.hpp"
#include "base/rename_over.hpp"
#include "base/sync_path.hpp"
#include "offload/output/run_mark.hpp"
#include "offload/output/stored_files.hpp"

namespace halcyon::offload {
namespace {

namespace fs = std::filesystem;

std::string absolute(const std::string& directory, const std::string& path) {
    return (fs::path(directory) / path).lexically_normal().string();
}

/// `state_` guards what is known about directories and files, and is held for single calls on directories, never while
/// a file is written or synced; `parts_` guards the numbers of parts alone, as the event loop asks for them; `views_`
/// lets one view be made at a time. Taken in the order views_, state_, parts_.
class file_output final : public output_writer {
  public:
    file_output(const model& data, std::string writer, int ranks, std::string run)
        : data_(data), writer_(std::move(writer)), run_(std::move(run)), ranks_(ranks) {}

    struct target {
        std::string directory;
        store_module module;
        directory_claim place;  ///< the directory as it was found or made
        result<void> settled;   ///< failure: the directory was lost, and there is no new one yet
        std::unique_ptr<file_store> files;
        /// Shared with a thread that makes a view while the directory is lost. Null: the format has no view.
        std::shared_ptr<view_builder> view;
        stored_files stored;  ///< of this writer, hidden ones too
    };
    std::vector<target> targets_;

    result<file_report> write(request r) override {
        target& t = targets_[r.store];
        if (auto there = is_settled(r.store); !there) return there.why();
        const bool visible = r.visible;
        if (visible)
            if (auto done = publish_parts(r.store, r.iterations); !done) return done.why();
        auto job = job_for(std::move(r), writer_);
        if (!job) return job.why();
        auto report = t.files->write(*job);
        if (!report) return report;
        if (visible) {
            published(job->path, job->sync);
        } else {
            const std::lock_guard lock(state_);
            t.stored.add(fs::path(job->path).filename().string());
        }
        return report;
    }

    result<file_job> share_of(request r) override {
        if (auto there = is_settled(r.store); !there) return there.why();
        return job_for(std::move(r), all_servers);
    }

    result<void> lay_out(uint32_t store, const shared_file& file) override {
        if (auto there = is_settled(store); !there) return there;
        return targets_[store].files->lay_out(file);
    }

    result<void> publish_parts(uint32_t store, std::span<const int64_t> iterations) override {
        for (const int64_t iteration : iterations)
            if (auto done = publish_parts_of(store, iteration); !done) return done;
        return {};
    }

    std::recursive_mutex& library_lock(uint32_t store) override {
        std::recursive_mutex* of_format = targets_[store].files->library_lock();
        return of_format != nullptr ? *of_format : no_library_;
    }

    void published(const std::string& path, bool synced) override {
        const std::lock_guard lock(state_);
        if (!synced) unsynced_.insert(path);
        const fs::path parts(path);
        for (target& t : targets_)
            if (parts.parent_path() == t.directory && t.stored.owned(parts.filename().string()))
                return t.stored.add(parts.filename().string());
    }

    int32_t next_part(uint32_t store, int64_t iteration) override {
        const std::lock_guard lock(parts_);
        return ++last_part_[{store, iteration}];
    }

    result<void> sync(const writers_meant& others) override {
        std::set<std::string> wanted, directories;
        {
            const std::lock_guard lock(state_);
            if (others) add_files_of(others);
            wanted = unsynced_;
        }
        for (const std::string& path : wanted) {
            if (auto done = sync_tree(path); !done) return done;
            directories.insert(fs::path(path).parent_path().string());
        }
        for (const std::string& directory : directories)
            if (auto done = sync_directory(directory); !done) return done;
        const std::lock_guard lock(state_);
        for (const std::string& path : wanted) unsynced_.erase(path);
        return {};
    }

    result<int64_t> rebuild_views(const std::vector<std::string>& writers) override {
        const std::lock_guard one_at_a_time(views_);
        int64_t shown = 0;
        for (uint32_t store = 0; store < targets_.size(); ++store) {
            if (auto there = is_settled(store); !there) return there.why();
            const auto view = view_of(store);
            if (view == nullptr) continue;  // its format has none
            auto n = view->rebuild(writers);
            if (!n) return n.why();
            shown = std::max(shown, *n);
        }
        return shown;
    }

    std::optional<lost_directory> look_for_lost_directories() override {
        const std::lock_guard lock(state_);
        std::optional<lost_directory> lost;
        std::set<std::string> said;
        for (target& t : targets_) {
            if (t.place && t.place.is_at(t.directory)) continue;
            if (t.place) {
                if (!lost) lost.emplace();
                lost->files += t.stored.size();
                if (said.insert(t.directory).second)
                    lost->what += (said.size() > 1 ? "; " : "") + ("output directory " + t.directory) +
                                  " was deleted, moved or unmounted while the run went on: what was stored in it is "
                                  "not there any more, and what follows goes into a new one";
                forget(t);
            }
            t.settled = settle_in(t);
        }
        return lost;
    }

    result<int64_t> missing_files() const override {
        const std::lock_guard lock(state_);
        int64_t missing = 0;
        for (const target& t : targets_) {
            if (t.stored.size() == 0) continue;
            auto of_target = t.stored.missing_from(t.directory);
            if (!of_target) return of_target;
            missing += *of_target;
        }
        return missing;
    }

    void remove_halves_of(const std::set<std::string>& writers) override {
        if (writers.empty()) return;
        const std::string stem = data_.simulation + ".";
        std::error_code none;
        for (uint32_t store = 0; store < targets_.size(); ++store) {
            if (!is_settled(store)) continue;
            const target& t = targets_[store];
            for (const std::string& writer : writers)
                fs::remove(fs::path(t.directory) / (".counts-" + writer + ".json.room"), none);
            for (const auto& entry : fs::directory_iterator(t.directory, none)) {
                const std::string name = entry.path().filename().string();
                if (!name.starts_with(stem) || !name.ends_with(".tmp")) continue;
                const std::string writer = name.substr(stem.size(), name.find('.', stem.size()) - stem.size());
                if (writers.contains(writer)) fs::remove_all(entry.path(), none);
            }
        }
    }

    result<void> publish_left_by(const std::string& writer) override {
        const std::string stem = data_.simulation + "." + writer + ".";
        for (const target& t : targets_) {
            if (!t.settled) return t.settled;
            std::error_code why;
            for (const auto& entry : fs::directory_iterator(t.directory, why)) {
                const std::string name = entry.path().filename().string();
                if (name.starts_with(stem) && name.ends_with(".tmp")) fs::remove_all(entry.path(), why);
                if (!name.starts_with("." + stem) || name.ends_with(".tmp")) continue;
                const std::string path = t.directory + "/" + name.substr(1);
                if (auto renamed = rename_over(entry.path().string(), path); !renamed) return renamed;
                unsynced_.insert(path);
            }
            if (why) return system_failure("output directory " + t.directory, why.value());
        }
        return {};
    }

    void release_directories() override {
        const std::lock_guard lock(state_);
        for (target& t : targets_) t.place.release();
    }

    /// Makes the directory where it is missing, and begins to hold it.
    result<void> settle_in(target& t) const {
        std::error_code why;
        fs::create_directories(t.directory, why);
        if (why) return system_failure("output directory " + t.directory, why.value());
        auto held = directory_claim::join(t.directory);
        if (!held) return held.why();
        // A session that opens shares its claim with its servers: this may be one of another run.
        if (auto ours = settle_in_directory(t.directory, run_); !ours) return ours;
        t.place = std::move(*held);
        if (t.module.traits.has_view())
            t.view.reset(t.module.make_view_builder(t.directory.c_str(), data_.simulation.c_str()));
        return {};
    }

    std::vector<std::string> new_view_remarks() override {
        const std::lock_guard one_at_a_time(views_);
        std::vector<std::string> fresh;
        for (uint32_t store = 0; store < targets_.size(); ++store)
            if (const auto view = view_of(store))
                for (const std::string& remark : view->remarks())
                    if (told_.insert(remark).second) fresh.push_back(remark);
        return fresh;
    }

    int64_t ended_short() override {
        const std::lock_guard one_at_a_time(views_);
        int64_t most = 0;
        for (uint32_t store = 0; store < targets_.size(); ++store)
            if (const auto view = view_of(store)) most = std::max(most, view->ended_short());
        return most;
    }

    const std::string& directory_of(uint32_t store) const override { return targets_[store].directory; }

    /// What an earlier server of this writer left. A half file is written again under the same name; parts count, and
    /// those of an iteration without a file have yet to be published; what was published may not be synced.
    void take_over() {
        const std::string own = data_.simulation + "." + writer_ + ".";
        const std::string of_all = data_.simulation + "." + all_servers + ".";
        for (uint32_t store = 0; store < targets_.size(); ++store) {
            std::error_code none;
            for (const auto& entry : fs::directory_iterator(targets_[store].directory, none)) {
                const std::string name = entry.path().filename().string();
                const std::string visible = name.substr(name.starts_with('.') ? 1 : 0);
                // All servers of a world die together, and the first node's speaks for them.
                const bool ours = visible.starts_with(own) || (writer_ == node_writer(0) && name.starts_with(of_all));
                if (ours && name.ends_with(".tmp"))
                    fs::remove_all(entry.path(), none);
                else if (name == visible && targets_[store].stored.owned(name))
                    published(entry.path().string(), false);
                else
                    targets_[store].stored.add(name);
                const auto parsed = parse(store, visible);
                if (parsed && parsed->writer == writer_ && parsed->part > 0) {
                    int32_t& last = last_part_[{store, parsed->first_iteration}];
                    last = std::max(last, parsed->part);
                }
            }
        }
    }

    const std::string& writer() const { return writer_; }

  private:
    result<void> is_settled(uint32_t store) const {
        const std::lock_guard lock(state_);
        return targets_[store].settled;
    }
    std::shared_ptr<view_builder> view_of(uint32_t store) const {
        const std::lock_guard lock(state_);
        return targets_[store].view;
    }

    /// The name of a data file of this store.
    std::optional<file_name_parts> parse(uint32_t store, const std::string& name) const {
        return parse_file_name(name, data_.simulation, targets_[store].module.traits.ending);
    }

    /// What other writers have published becomes this one's to sync, once.
    void add_files_of(const writers_meant& others) {
        std::error_code none;
        for (uint32_t store = 0; store < targets_.size(); ++store)
            for (const auto& entry : fs::directory_iterator(targets_[store].directory, none)) {
                const auto parsed = parse(store, entry.path().filename().string());
                if (!parsed || parsed->writer == writer_ || !others(parsed->writer)) continue;
                if (of_others_.insert(entry.path().string()).second) unsynced_.insert(entry.path().string());
            }
    }

    /// What was known about a directory that is lost.
    void forget(target& t) {
        t.place.release();
        t.stored.clear();
        std::erase_if(unsynced_, [&t](const std::string& path) { return fs::path(path).parent_path() == t.directory; });
    }

    result<file_job> job_for(request r, const std::string& writer) const {
        const std::string& directory = targets_[r.store].directory;
        file_job job;
        job.data = &data_;
        job.target = &data_.stores[r.store];
        const std::string name =
            file_name(data_.simulation, writer, r.iterations.front(), r.part, targets_[r.store].module.traits.ending);
        job.path = directory + (r.visible ? "/" : "/.") + name;
        job.writer = writer;
        job.ranks = ranks_;
        job.iterations = std::move(r.iterations);
        job.blocks = std::move(r.blocks);
        std::sort(job.blocks.begin(), job.blocks.end(), [](const block_view& a, const block_view& b) {
            return std::tuple(a.var->id, a.domain(), a.iteration) < std::tuple(b.var->id, b.domain(), b.iteration);
        });
        job.missing = std::move(r.missing);
        job.unfinished = std::move(r.unfinished);
        job.part = r.part;
        job.sync = r.sync;
        job.compress = r.compress;
        job.storing = r.storing;
        return job;
    }

    /// File names (hidden and published) of the parts of an iteration.
    std::vector<std::string> part_names(uint32_t store, int64_t iteration) const {
        std::vector<std::string> names;
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(targets_[store].directory, none)) {
            const std::string name = entry.path().filename().string();
            const auto parsed = parse(store, name.substr(name.starts_with('.') ? 1 : 0));
            if (parsed && parsed->writer == writer_ && parsed->first_iteration == iteration && parsed->part > 0)
                names.push_back(name);
        }
        return names;
    }

    bool has_parts(uint32_t store, int64_t iteration) const {
        const std::lock_guard lock(parts_);
        return last_part_.contains({store, iteration});
    }

    result<void> publish_parts_of(uint32_t store, int64_t iteration) {
        // The directory is read only for iterations that have parts: it grows with every file.
        if (!has_parts(store, iteration)) return {};
        if (auto there = is_settled(store); !there) return there;
        const std::string& directory = targets_[store].directory;
        for (const std::string& name : part_names(store, iteration)) {
            if (!name.starts_with('.')) continue;
            const std::string path = directory + "/" + name.substr(1);
            std::string hidden = directory;
            hidden += '/';
            hidden += name;
            if (auto renamed = rename_over(hidden, path); !renamed) return renamed;
            {
                const std::lock_guard lock(state_);
                targets_[store].stored.publish(name);
            }
            published(path, false);
        }
        return {};
    }

    const model& data_;
    std::string writer_, run_;
    int ranks_;
    mutable std::mutex views_, state_, parts_;
    std::recursive_mutex no_library_;
    std::map<std::pair<uint32_t, int64_t>, int32_t> last_part_;  ///< [store, iteration] that has parts
    std::set<std::string> unsynced_;
    std::set<std::string> of_others_;  ///< files of other writers that were or will be synced here
    std::set<std::string> told_;       ///< remarks about views
};

}  // namespace

result<std::unique_ptr<output_writer>> output_writer::open(const model& data, const std::string& directory,
                                                           std::string writer, int ranks, std::string run) {
    auto made = std::make_unique<file_output>(data, std::move(writer), ranks, std::move(run));
    for (const store& s : data.stores) {
        auto module = load_store_module(s.type);
        if (!module) return module.why();
        if (auto fits = check_settings(s, module->traits); !fits) return fits.why();
        file_output::target t;
        t.stored = stored_files(data.simulation, made->writer(), std::string(module->traits.ending));
        t.directory = absolute(directory, s.path);
        t.module = *module;
        t.files.reset(module->make_file_store());
        if (auto there = made->settle_in(t); !there) return there.why();
        made->targets_.push_back(std::move(t));
    }
    made->take_over();
    return std::unique_ptr<output_writer>(std::move(made));
}

std::string records_directory(const model& data, const std::string& directory) {
    return data.stores.empty() ? directory : absolute(directory, data.stores.front().path);
}

}  // namespace halcyon::offload
