#pragma once

#include <array>
#include <atomic>
#include <string_view>

#include "calls/record/layer.hpp"
#include "coordinate/gate/gate_page.hpp"
#include "coordinate/layer/call_roles.hpp"

namespace halcyon::coordinate {

/// Holds the process at its first I/O until the gate opens, so that the starts of several commands' I/O are so far
/// apart as somebody wants. All threads of the process are held; afterwards nothing is, and a call costs one load.
///
/// Held are calls on files below a path: before the first read, write, copy or sync, of streams too, and before the
/// first call that names a file to change it (mkdir, rename, unlink, …). A call that opens a file and may create or
/// empty it is held at its end, since only then its file is known. Without a path, files anywhere count, and reads do
/// not: every program reads libraries and settings. Not held are calls that may not wait, as asynchronous ones.
///
/// Calls pass the gate before all other layers, and it adds nothing to call_record::wait: for these, the application
/// makes its call when the gate has opened.
class gate_layer final : public calls::layer {
  public:
    struct settings {
        std::string_view file;   ///< of the gate_page
        std::string_view below;  ///< path that counts; "": all
    };

    /// False when it cannot; `complaint` says why.
    bool start(const settings& wanted, char* complaint, size_t complaint_bytes);

    void invoke(calls::call_record& record, const calls::next_call& next) override {
        if (is_open_.load(std::memory_order_relaxed)) [[likely]]
            return next(record);
        invoke_held(record, next);
    }
    void on_file(const calls::named_file& file) override;

  private:
    static constexpr size_t longest_path = 4096;
    static constexpr uint32_t files =
        1U << 16U;  ///< of a program that uses more before its first I/O, some are mixed up

    [[gnu::noinline]] void invoke_held(calls::call_record& record, const calls::next_call& next);
    [[nodiscard]] bool is_watched(uint32_t file) const;
    [[nodiscard]] bool counts_before(const calls::call_record& record, const calls::next_call& next) const;
    [[nodiscard]] bool has_created(const calls::call_record& record) const;
    void wait();
    bool map(const char* file, char* complaint, size_t complaint_bytes);

    std::atomic<bool> is_open_{true};
    std::atomic<bool> has_arrived_{false};
    gate_page* page_ = nullptr;
    char below_[longest_path] = {};
    size_t below_bytes_ = 0;
    std::array<std::atomic<uint64_t>, files / 64> watched_{};  ///< a bit for each file
};

}  // namespace halcyon::coordinate
