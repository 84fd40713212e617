#include "offload/store/hdf5/hdf5_view.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <tuple>

#include "offload/store/hdf5/library_use.hpp"
#include "offload/store/hdf5/view_writer.hpp"
#include "offload/store/hdf5/xdmf.hpp"

namespace halcyon::offload::hdf5 {
namespace {

bool has_constants(const published_file& file) {
    return std::any_of(file.layout->variables.begin(), file.layout->variables.end(),
                       [](const stored_variable& v) { return !v.time_varying; });
}

}  // namespace

hdf5_view::hdf5_view(std::string directory, std::string simulation)
    : directory_(directory.empty() ? "." : std::move(directory)),
      simulation_(std::move(simulation)),
      files_(directory_, simulation_),
      temporaries_(directory_, simulation_) {}

result<int64_t> hdf5_view::rebuild(std::span<const std::string> writers) {
    try {
        // Without writers a run is over, or somebody looks at one: then each file is asked about.
        const auto news =
            files_.update(writers.empty() ? published_files::look::at_each : published_files::look::quick);
        const bool same_writers =
            std::equal(writers.begin(), writers.end(), last_writers_.begin(), last_writers_.end());
        follow(news, writers, same_writers);
        if (same_writers && last_count_ >= 0 && !shows_more(news) && (last_count_ == 0 || is_there()))
            return last_count_;
        last_count_ = -1;
        const int64_t count = publish();
        last_writers_.assign(writers.begin(), writers.end());
        last_count_ = count;
        return count;
    } catch (const error& e) {
        return e.as_failure();
    } catch (const std::exception& e) {
        return failure{error_kind::internal, directory_ + ": rebuild the view: " + e.what(), 0};
    }
}

bool hdf5_view::is_there() const {
    std::error_code ignored;
    return std::filesystem::exists(directory_ + "/" + simulation_ + ".h5", ignored);
}

/// Brings `progress_` up to date.
void hdf5_view::follow(const published_files::news& news, std::span<const std::string> writers, bool same_writers) {
    if (same_writers && !news.other) {
        for (const auto& file : news.added) progress_.add(*file);
        return;
    }
    progress_ = iteration_progress(writers);
    for (const auto& [name, file] : files_.all())
        if (file.contents) progress_.add(*file.contents);
}

/// Most new files are of iterations that other writers have yet to publish: the view stays as it is.
bool hdf5_view::shows_more(const published_files::news& news) const {
    return news.other || std::any_of(news.added.begin(), news.added.end(), [this](const auto& file) {
               return has_constants(*file) || std::any_of(file->iterations.begin(), file->iterations.end(),
                                                          [this](int64_t i) { return progress_.is_published(i); });
           });
}

int64_t hdf5_view::publish() {
    std::vector<std::shared_ptr<const published_file>> files;
    view_notes notes;
    notes.simulation = simulation_;
    for (const auto& [name, file] : files_.all()) {
        if (file.contents) {
            files.push_back(file.contents);
        } else {
            notes.unreadable_files.push_back(name);
        }
    }
    std::sort(notes.unreadable_files.begin(), notes.unreadable_files.end());
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
        return std::tie(a->name.first_iteration, a->name.part, a->name.writer) <
               std::tie(b->name.first_iteration, b->name.part, b->name.writer);
    });
    const gathered_run run = gather(files, progress_);
    if (run.iterations.empty()) return 0;
    const view_plan plan = plan_view(run, [this](const view_variable& v) { return read_coordinate(v); });

    const std::string view_name = simulation_ + ".h5";
    output_file view(temporaries_.path_of("h5"));
    try {
        write_view(plan, notes, directory_, view);
    } catch (const error&) {
        view.throw_if_failed();
        throw;
    }
    const std::string xdmf_path = directory_ + "/" + simulation_ + ".xmf";
    if (const std::string text = xdmf_text(plan, simulation_, view_name); !text.empty()) {
        output_file xdmf(temporaries_.path_of("xmf"));
        xdmf.write_data(0, std::as_bytes(std::span(text)));
        xdmf.end_at(text.size());
        view.publish(directory_ + "/" + view_name, false);
        xdmf.publish(xdmf_path, false);
    } else {
        view.publish(directory_ + "/" + view_name, false);
        std::error_code ignored;
        std::filesystem::remove(xdmf_path, ignored);
    }
    remarks_ = plan.mesh_remarks;
    for (const std::string& name : notes.unreadable_files)
        remarks_.push_back("file " + directory_ + "/" + name + " cannot be read: the view leaves it out");
    int64_t earliest = INT64_MAX;
    for (const auto& early : progress_.early_ends()) {
        earliest = std::min(earliest, early.last);
        remarks_.push_back("writer " + early.writer + " published nothing after iteration " +
                           std::to_string(early.last) + ", but others did until iteration " +
                           std::to_string(run.iterations.back()) + ": what it would have written is fill");
    }
    ended_short_ = std::count_if(run.iterations.begin(), run.iterations.end(),
                                 [earliest](int64_t iteration) { return iteration > earliest; });
    return static_cast<int64_t>(run.iterations.size());
}

std::vector<std::byte> hdf5_view::read_coordinate(const view_variable& v) {
    std::string sources;
    for (const piece& p : v.pieces) {
        const auto& state = files_.all().at(p.file).state;
        sources += p.file + "\n" + p.dataset + "\n" + std::to_string(state.inode) + " " +
                   std::to_string(state.modified_ns) + "\n";
    }
    auto& known = coordinates_[v.path];
    const library_use now;
    if (known.second.empty() || known.first != sources) known = {sources, read_array(v, directory_)};
    return known.second;
}

}  // namespace halcyon::offload::hdf5
