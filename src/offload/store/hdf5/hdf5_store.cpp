#include "offload/store/hdf5/hdf5_store.hpp"

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "base/contained.hpp"
#include "offload/store/hdf5/library_use.hpp"
#include "offload/store/hdf5/shared_layout.hpp"

namespace halcyon::offload::hdf5 {
namespace {

/// HALCYON_FILE_PATTERNS=off: HDF5 makes each file.
bool patterns_are_wanted() {
    const char* wish = std::getenv("HALCYON_FILE_PATTERNS");
    return wish == nullptr || std::string_view(wish) != "off";
}

file_report write_job(const file_job& job, writer_memory& memory, pattern_memory& patterns) {
    const auto begin = std::chrono::steady_clock::now();
    memory.encoder.reset_counts();
    file_report report;
    for (const block_view& block : job.blocks) report.raw_bytes += static_cast<int64_t>(block.data.size());
    const std::vector<domain_rows> datasets = sort_into_datasets(job);
    output_file out(job.path + ".tmp");
    out.write_back_early(job.sync);
    try {
        write_contents(job, datasets, out, memory, patterns);
    } catch (const error&) {
        // A full disk is the cause of whatever HDF5 reports after it.
        out.throw_if_failed();
        throw;
    }
    report.stored_bytes = out.publish(job.path, job.sync);
    report.compress_ns = memory.encoder.busy_ns();
    report.overflowed_values = memory.encoder.overflows();
    report.patterns_refuted = patterns.take_refuted();
    const auto whole = std::chrono::steady_clock::now() - begin;
    report.write_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(whole).count() - report.compress_ns;
    return report;
}

}  // namespace

hdf5_store::hdf5_store() : patterns_(patterns_are_wanted()) {}

std::unique_ptr<writer_memory> hdf5_store::take_memory() {
    const std::lock_guard lock(mutex_);
    if (idle_memory_.empty()) return std::make_unique<writer_memory>();
    auto memory = std::move(idle_memory_.back());
    idle_memory_.pop_back();
    return memory;
}

void hdf5_store::give_back(std::unique_ptr<writer_memory> memory) {
    const std::lock_guard lock(mutex_);
    idle_memory_.push_back(std::move(memory));
}

result<file_report> hdf5_store::write(const file_job& job) {
    return contained(job.path, [&]() -> result<file_report> {
        auto memory = take_memory();
        auto report = write_job(job, *memory, patterns_);
        give_back(std::move(memory));
        return report;
    });
}

result<void> hdf5_store::lay_out(const shared_file& file) {
    const library_use now;
    return contained(file.about.path, [&]() -> result<void> {
        lay_out_file(file);
        return {};
    });
}

std::recursive_mutex* hdf5_store::library_lock() {
    return &hdf5::library_lock();
}

}  // namespace halcyon::offload::hdf5
