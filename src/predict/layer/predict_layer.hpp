#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/io_forecast.hpp"
#include "calls/call_table.hpp"
#include "calls/layer.hpp"
#include "calls/process_state.hpp"
#include "predict/layer/file_book.hpp"
#include "predict/layer/thread_model.hpp"
#include "predict/layer/tick_times.hpp"

namespace halcyon::predict {

/// Learns the process' I/O while it goes on: calls that reach the file system, a model for each thread.
///
/// Learnt are opening, closing, reading, writing, copying and syncing at the level posix, and opening and closing at
/// the level stdio, whose transfers come as those of posix; calls that failed are not. MPI-IO and HDF5 come by the
/// calls that they make.
///
/// A thread's model is made when it makes its first such call, or taken over from a thread that has ended. Models of
/// more than `most_threads` threads at a time are not kept. After fork the child knows nothing, and begins anew.
class predict_layer final : public calls::layer {
  public:
    static constexpr uint32_t most_threads = 256;

    struct settings {
        model::settings each;        ///< of each thread
        std::string_view directory;  ///< where a file says what was learnt; "": nowhere
    };

    /// False when it cannot: `complaint` then says why, for standard error.
    bool start(const settings& wanted, char* complaint, size_t complaint_bytes);

    void invoke(calls::call_record& record, const calls::next_call& next) override {
        next(record);
        if (learnt_[record.function] && record.error == 0) learn(record);
    }
    void on_file(const calls::named_file& file) override;
    [[nodiscard]] bool wants_contexts() const override { return true; }
    void on_end(calls::ending how) override;

    /// See io_forecast::source.
    bool forecast(const io_forecast::question& asked, io_forecast::access* accesses, io_forecast::answer& found);

  private:
    struct kept_thread {
        std::atomic<int> id;                 // of the system; 0: none
        std::atomic<thread_model*> learnt;
    };
    /// All that a process has learnt: in memory of its own, which a child of fork forgets.
    struct knowledge {
        explicit knowledge(const model::settings& chosen) : each(chosen), names_memory(names_bytes), files(names_memory) {}

        model::settings each;
        memory_bound names_memory;
        file_book files;
        tick_times times;
        kept_thread threads[most_threads]{};
        std::atomic<uint64_t> of_other_threads{0};  // calls of threads that there was no model for
        std::atomic<uint32_t> other_threads{0};
    };
    static constexpr size_t names_bytes = size_t{4} << 20;

    void learn(const calls::call_record& record);
    thread_model* model_of(calls::thread_state& thread);
    thread_model* find_model(calls::thread_state& thread);
    thread_model* make_model(uint32_t thread);
    void write_facts(const char* ending);

    knowledge* known_ = nullptr;
    bool learnt_[static_cast<size_t>(calls::call_id::count)] = {};
    char path_[512] = {};  // of the file of facts; "": none
    std::atomic<bool> began_{false};
};

}  // namespace halcyon::predict
