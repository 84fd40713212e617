#include "offload/store/hdf5/hdf5_store.hpp"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <string_view>

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

result<file_report> hdf5_store::write(const file_job& job) {
    const silence quiet;
    try {
        return write_job(job, memory_, patterns_);
    } catch (const error& e) {
        return e.as_failure();
    } catch (const std::exception& e) {
        return failure{error_kind::internal, job.path + ": " + e.what(), 0};
    }
}

result<void> hdf5_store::lay_out(const shared_file& file) {
    const silence quiet;
    try {
        lay_out_file(file);
        return {};
    } catch (const error& e) {
        return e.as_failure();
    } catch (const std::exception& e) {
        return failure{error_kind::internal, file.about.path + ": " + e.what(), 0};
    }
}

}  // namespace halcyon::offload::hdf5
