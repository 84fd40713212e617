#pragma once

#include <atomic>

#include "calls/record/call_table.hpp"
#include "calls/record/layer.hpp"
#include "observe/trace/record_buffer.hpp"
#include "observe/trace/trace_file.hpp"

namespace halcyon::observe::trace {

/// The layer that writes every call down: nothing is changed, and nothing waits for the disk as long as records are
/// coded as fast as they come.
class trace_layer final : public calls::layer {
  public:
    struct settings {
        std::string_view directory;  ///< where traces are wanted: all processes of a run see it
        std::string_view local;      ///< where they lie until the process ends; "": `directory` if that is a disk of
                                     ///< this node, else /tmp
        size_t buffer_bytes;
        bool contexts;  ///< calls are wanted with the number of their call stack
    };

    /// Begins a trace of this process. False when it cannot: `complaint` then says why, for standard error.
    bool start(const settings& wanted, char* complaint, size_t complaint_bytes);

    void invoke(calls::call_record& record, const calls::next_call& next) override {
        next(record);
        append(record);
    }
    void on_file(const calls::named_file& file) override;
    void on_fact(uint32_t file, std::string_view key, std::string_view value) override;
    [[nodiscard]] bool wants_contexts() const override { return contexts_; }
    [[nodiscard]] bool wants_calls_below() const override { return true; }
    void on_context(uint32_t id, std::span<const calls::context_frame> frames) override;
    void on_absence(std::string_view subject, uint64_t count) override;
    void on_end(calls::ending how) override;

  private:
    void append(const calls::call_record& record);
    void name_function(uint16_t function);
    void write_process_section();
    const char* begin(std::string_view local, size_t buffer_bytes, int& error);
    bool leave_mark(std::string_view directory);
    int leave_address(std::string_view local);
    void move_to_directory();
    void complain() const;

    trace_file file_;
    record_buffer buffer_;
    uint32_t time_unit_ = 1;
    bool contexts_ = false;
    char directory_[trace_file::longest_path] = {};  // "": the trace lies there already
    char name_[160] = {};
    std::atomic<bool> moving_{false};  // one thread has begun to move the trace to its directory
    std::atomic<bool> named_[static_cast<size_t>(calls::call_id::count)] = {};
};

}  // namespace halcyon::observe::trace
