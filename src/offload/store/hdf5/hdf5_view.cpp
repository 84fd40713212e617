#include "offload/store/hdf5/hdf5_view.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <exception>
#include <filesystem>
#include <tuple>

#include "base/node_identity.hpp"
#include "offload/store/hdf5/handle.hpp"
#include "offload/store/hdf5/view_writer.hpp"
#include "offload/store/hdf5/xdmf.hpp"

namespace halcyon::offload::hdf5 {
hdf5_view::hdf5_view(std::string directory, std::string simulation)
    : directory_(directory.empty() ? "." : std::move(directory)),
      simulation_(std::move(simulation)),
      host_(host_name()) {}

result<int64_t> hdf5_view::rebuild(std::span<const std::string> writers) {
    const silence quiet;
    try {
        const bool changed = scan();
        const bool same_writers =
            std::equal(writers.begin(), writers.end(), last_writers_.begin(), last_writers_.end());
        std::error_code ignored;
        const bool there = std::filesystem::exists(directory_ + "/" + simulation_ + ".h5", ignored);
        if (!changed && same_writers && last_count_ >= 0 && (there || last_count_ == 0)) return last_count_;
        last_count_ = -1;
        const int64_t count = publish(writers);
        last_writers_.assign(writers.begin(), writers.end());
        last_count_ = count;
        return count;
    } catch (const error& e) {
        return e.as_failure();
    } catch (const std::exception& e) {
        return failure{error_kind::internal, directory_ + ": rebuild the view: " + e.what(), 0};
    }
}

bool hdf5_view::scan() {
    std::error_code status;
    std::filesystem::directory_iterator entries(directory_, status);
    if (status) throw error(system_failure(directory_ + ": cannot list the folder", status.value()));
    bool changed = false;
    std::map<std::string, known_file> found;
    for (const auto& entry : entries) {
        const std::string name = entry.path().filename();
        if (name[0] == '.') forget_stale_temporaries(name);
        const auto parsed = parse_file_name(name, simulation_);
        if (!parsed) continue;
        struct stat info {};
        if (stat(entry.path().c_str(), &info) != 0) continue;
        const file_state state{info.st_dev, info.st_ino, info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec,
                               info.st_size};
        const auto known = files_.find(name);
        if (known != files_.end() && known->second.state == state && known->second.contents) {
            found.insert(files_.extract(known));
            continue;
        }
        // A file that could not be read may have met a passing trouble: it is tried again each time.
        std::shared_ptr<const published_file> contents = read(name, *parsed);
        const bool still_unreadable = known != files_.end() && !known->second.contents && !contents;
        changed = changed || !still_unreadable;
        if (known != files_.end()) files_.erase(known);
        found[name] = {state, std::move(contents)};
    }
    // What is left in the old list is gone from the folder.
    changed = changed || !files_.empty();
    files_ = std::move(found);
    return changed;
}

std::shared_ptr<const published_file> hdf5_view::read(const std::string& name, const published_name& parsed) {
    try {
        auto file = std::make_shared<published_file>(read_published_file(directory_, name, parsed));
        std::shared_ptr<const file_layout>& newest = newest_layout_[parsed.writer];
        if (newest && *newest == *file->layout) {
            file->layout = newest;
        } else {
            newest = file->layout;
        }
        return file;
    } catch (const error&) {
        return nullptr;
    }
}

int64_t hdf5_view::publish(std::span<const std::string> writers) {
    std::vector<std::shared_ptr<const published_file>> files;
    view_notes notes;
    notes.simulation = simulation_;
    for (const auto& [name, file] : files_) {
        if (file.contents) {
            files.push_back(file.contents);
        } else {
            notes.unreadable_files.push_back(name);
        }
    }
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
        return std::tie(a->name.first_iteration, a->name.part, a->name.writer) <
               std::tie(b->name.first_iteration, b->name.part, b->name.writer);
    });
    const gathered_run run = gather(files, writers);
    if (run.iterations.empty()) return 0;
    const view_plan plan = plan_view(run, [this](const view_variable& v) { return read_coordinate(v); });

    const std::string view_name = simulation_ + ".h5";
    output_file view(temporary("h5"));
    try {
        write_view(plan, notes, directory_, view);
    } catch (const error&) {
        view.throw_if_failed();
        throw;
    }
    output_file xdmf(temporary("xmf"));
    const std::string text = xdmf_text(plan, simulation_, view_name);
    xdmf.write_data(0, std::as_bytes(std::span(text)));
    xdmf.end_at(text.size());
    view.publish(directory_ + "/" + view_name, false);
    xdmf.publish(directory_ + "/" + simulation_ + ".xmf", false);
    remarks_ = plan.unfit_meshes;
    for (const std::string& name : notes.unreadable_files)
        remarks_.push_back("file " + directory_ + "/" + name + " cannot be read: the view leaves it out");
    return static_cast<int64_t>(run.iterations.size());
}

std::vector<std::byte> hdf5_view::read_coordinate(const view_variable& v) {
    std::string sources;
    for (const piece& p : v.pieces) {
        const file_state& state = files_.at(p.file).state;
        sources += p.file + "\n" + p.dataset + "\n" + std::to_string(state.inode) + " " +
                   std::to_string(state.modified_ns) + "\n";
    }
    auto& known = coordinates_[v.path];
    if (known.second.empty() || known.first != sources) known = {sources, read_array(v, directory_)};
    return known.second;
}

/// A name of its own for each process: two may rebuild the same view, and neither may rename the other's half.
std::string hdf5_view::temporary(const std::string& suffix) const {
    return directory_ + "/." + simulation_ + ".view." + host_ + "." + std::to_string(getpid()) + "." + suffix;
}

/// Removes `name` when it is the temporary of a process of this host that is no more.
void hdf5_view::forget_stale_temporaries(const std::string& name) const {
    const std::string begin = "." + simulation_ + ".view." + host_ + ".";
    if (!name.starts_with(begin)) return;
    pid_t process = 0;
    const auto parsed = std::from_chars(name.data() + begin.size(), name.data() + name.size(), process);
    if (parsed.ec != std::errc{} || process <= 0) return;
    if (kill(process, 0) != 0 && errno == ESRCH) unlink((directory_ + "/" + name).c_str());
}

}  // namespace halcyon::offload::hdf5
