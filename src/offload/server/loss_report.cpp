#include "offload/server/loss_report.hpp"

#include <algorithm>
#include <cstring>

namespace halcyon::offload {

void loss_report::tell_clients(int64_t first, const std::string& why) {
    segment_header& h = segment_.header();
    std::strncpy(h.last_error, why.c_str(), sizeof h.last_error - 1);
    h.lost_from.store(std::min(first, h.lost_from.load(std::memory_order_relaxed)), std::memory_order_release);
    h.failed_files.fetch_add(1, std::memory_order_acq_rel);
}

void loss_report::file_failed(const failure& why, int64_t first) {
    journal_.add(&run_counts::failed_files);
    tell_clients(first, why.message);
}

/// The lost files may have held any iteration, and some exist nowhere else.
void loss_report::directory_lost(const std::optional<output_writer::lost_directory>& lost) {
    if (!lost) return;
    journal_.note(lost->what);
    journal_.add(&run_counts::lost_files, lost->files);
    tell_clients(0, lost->what);
}

void loss_report::counts_unsaved(const failure& why) {
    segment_header& h = segment_.header();
    // Of files that could not be written the clients hear all the same.
    if (h.failed_files.load(std::memory_order_relaxed) == 0)
        std::strncpy(h.last_error, why.message.c_str(), sizeof h.last_error - 1);
    h.unsaved_counts.store(1, std::memory_order_release);
}

void loss_report::look_for_files(output_writer& output) {
    directory_lost(output.look_for_lost_directories());
    const auto missing = output.missing_files();
    if (!missing) return journal_.note("what was stored cannot be looked over: " + missing.why().message);
    if (*missing == 0) return;
    journal_.add(&run_counts::lost_files, *missing);
    journal_.note(std::to_string(*missing) + " file(s) of this server were deleted or moved while the run went on");
}

}  // namespace halcyon::offload
