#include "offload/store/zarr/zarr_store.hpp"

#include <chrono>

#include "base/contained.hpp"
#include "offload/store/zarr/output_folder.hpp"

namespace halcyon::offload::zarr {
namespace {

file_report write_job(const file_job& job, writer_memory& memory) {
    const auto begin = std::chrono::steady_clock::now();
    memory.encoder.reset_counts();
    file_report report;
    for (const block_view& block : job.blocks) report.raw_bytes += static_cast<int64_t>(block.data.size());
    output_folder out(job.path + ".tmp",
                      job.sync ? output_folder::durability::synced : output_folder::durability::as_it_comes);
    write_contents(job, out, memory);
    report.stored_bytes = out.publish(job.path);
    report.compress_ns = memory.encoder.busy_ns();
    report.overflowed_values = memory.encoder.overflows();
    const auto whole = std::chrono::steady_clock::now() - begin;
    report.write_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(whole).count() - report.compress_ns;
    return report;
}

}  // namespace

std::unique_ptr<writer_memory> zarr_store::take_memory() {
    const std::lock_guard lock(mutex_);
    if (idle_memory_.empty()) return std::make_unique<writer_memory>();
    auto memory = std::move(idle_memory_.back());
    idle_memory_.pop_back();
    return memory;
}

void zarr_store::give_back(std::unique_ptr<writer_memory> memory) {
    const std::lock_guard lock(mutex_);
    idle_memory_.push_back(std::move(memory));
}

result<file_report> zarr_store::write(const file_job& job) {
    return contained(job.path, [&]() -> result<file_report> {
        auto memory = take_memory();
        auto report = write_job(job, *memory);
        give_back(std::move(memory));
        return report;
    });
}

}  // namespace halcyon::offload::zarr
