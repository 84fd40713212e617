#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/coming_io.hpp"
#include "base/io_forecast.hpp"
#include "calls/record/call_table.hpp"
#include "calls/record/layer.hpp"
#include "predict/layer/knowledge.hpp"

namespace halcyon::predict {

/// Learns the process' I/O while it goes on: calls that reach the file system, a model for each thread.
///
/// Learnt are opening, closing, reading, writing, copying and syncing at the level posix, and opening and closing at
/// the level stdio, whose transfers come as those of posix; calls that failed are not. MPI-IO and HDF5 come by the
/// calls that they make. After fork the child knows nothing, and begins anew.
///
/// Of each process that learnt anything, a file `<host>.<process id>.<time>.predict` says how much, and what it could
/// not learn (write_facts).
class predict_layer final : public calls::layer {
  public:
    struct settings {
        model::settings each;        ///< of each thread
        std::string_view directory;  ///< where the file of facts goes; "": nowhere
        std::string_view save;       ///< folder where the models go when the process ends; "": nowhere
        std::string_view load;       ///< folder with models to begin with; "": none
        std::string_view rank;       ///< of the process in its MPI job; "": none
        /// Writes lines of facts about what is done with the forecasts; returns their bytes. Null: nothing is.
        size_t (*tell_more)(char* out, size_t room) = nullptr;
        /// Whether other applications moved bytes beside the call that is over (observed_call). Null: never.
        bool (*beside_others)(const calls::call_record& record) = nullptr;
        /// When the process is about to end: whoever asks for forecasts in threads of ours stops that. Null: nobody.
        void (*before_end)() = nullptr;
    };

    /// False when it cannot; what it says in `complaint`, for standard error, may also be of less.
    bool start(const settings& wanted, char* complaint, size_t complaint_bytes);

    void invoke(calls::call_record& record, const calls::next_call& next) override {
        if (!learnt_[record.function]) return next(record);
        next(record);
        if (record.error == 0) learn(record);
    }
    void on_file(const calls::named_file& file) override;
    [[nodiscard]] bool wants_paths() const override { return true; }
    [[nodiscard]] bool wants_contexts() const override { return true; }
    void on_context(uint32_t id, std::span<const calls::context_frame> frames) override;
    void on_absence(std::string_view subject, uint64_t count) override;
    void on_end(calls::ending how) override;

    /// What it has learnt so far: for layers that pass calls on to this one, in the thread whose call came back.
    [[nodiscard]] knowledge& known() { return *known_; }

    /// See io_forecast::source.
    bool forecast(const io_forecast::question& asked, io_forecast::access* accesses, io_forecast::answer& found);
    /// See coming_io::source.
    bool forecast_phases(coming_io::forecast& found);

  private:
    static constexpr size_t longest_path = 1024;

    void learn(const calls::call_record& record);
    bool name_files(const settings& wanted, char* load_from);
    void write_facts(const char* ending);
    void save();

    knowledge* known_ = nullptr;
    bool learnt_[static_cast<size_t>(calls::call_id::count)] = {};
    char facts_path_[longest_path] = {};  // "": none
    char save_path_[longest_path] = {};   // "": none
    size_t (*tell_more_)(char*, size_t) = nullptr;
    bool (*beside_others_)(const calls::call_record&) = nullptr;
    void (*before_end_)() = nullptr;
    bool loaded_ = false;
    bool saved_ = false;
    calls::patient_lock absences_lock_;
    char absences_[1024] = {};  // lines
    size_t absences_bytes_ = 0;
    std::atomic<bool> began_{false};
};

}  // namespace halcyon::predict
