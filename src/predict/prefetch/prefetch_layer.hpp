#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "calls/record/call_table.hpp"
#include "calls/record/layer.hpp"
#include "predict/layer/predict_layer.hpp"
#include "predict/prefetch/reader.hpp"

namespace halcyon::predict::prefetch {

/// Asks the kernel to read ahead what the threads are predicted to read (reader). Changes nothing but when the storage
/// reads, and leaves off by itself where that gains nothing.
///
/// Calls pass it before the layer `predict`, so that when they come back here they have been learnt. After fork the
/// child begins anew.
class prefetch_layer final : public calls::layer {
  public:
    /// False when it cannot; `complaint` says why.
    bool start(const reader::settings& wanted, predict_layer& learns, char* complaint, size_t complaint_bytes);

    void invoke(calls::call_record& record, const calls::next_call& next) override;

    /// Lines of facts, see predict_layer::settings. Returns their bytes.
    size_t tell(char* out, size_t room) const;

  private:
    struct held_reader {
        std::atomic<thread_model*> model;  // whose thread it is of
        std::atomic<reader*> reads;
    };

    void ended(const calls::call_record& record);
    [[nodiscard]] reader* reader_of(const calls::thread_state& thread, thread_model& model);
    void forget();

    predict_layer* learns_ = nullptr;
    bool is_read_[static_cast<size_t>(calls::call_id::count)] = {};
    reader::shared shared_;
    std::array<held_reader, asker::most_rings> readers_{};
};

}  // namespace halcyon::predict::prefetch
