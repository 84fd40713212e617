#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "calls/clocks/tick_times.hpp"
#include "calls/record/layer.hpp"
#include "calls/state/process_state.hpp"
#include "predict/layer/file_book.hpp"
#include "predict/layer/thread_model.hpp"
#include "predict/model/label_table.hpp"

namespace halcyon::predict {

/// All that a process has learnt, in memory of its own, which a child of fork forgets: the models of its threads, and
/// what is known of its files and call stacks.
///
/// A thread's model is made when it makes its first call that is learnt, or taken over from a thread that has ended, so
/// that programs that begin a thread for each piece of work are learnt, too. Models of more than `most_threads` threads
/// at a time are not kept: their calls are counted.
class knowledge {
  public:
    static constexpr uint32_t most_threads = 256;

    explicit knowledge(const model::settings& each)
        : each_(each),
          files_memory_(names_bytes),
          files_(files_memory_),
          labels_memory_(names_bytes),
          labels_(labels_memory_) {}
    /// In fresh memory; null: there is none.
    static knowledge* make(const model::settings& each);
    static void forget(knowledge* known);

    /// The calling thread's own; null, and counted: there is no room.
    thread_model* model_of(calls::thread_state& thread);

    /// The calling thread's own if it has learnt a call.
    static thread_model* model_if_any(const calls::thread_state& thread);

    [[nodiscard]] file_book& files() { return files_; }
    [[nodiscard]] calls::tick_times& times() { return times_; }
    [[nodiscard]] const model::settings& each() const { return each_; }

    /// visit(thread_model&) of all threads that made a call, and of the first one also when it did not yet.
    template <class Visit>
    void each_model(Visit visit) {
        for (uint32_t i = 0; i < most_threads; ++i) {
            thread_model* const one = threads_[i].learnt.load();
            if (one != nullptr && (i == 0 || threads_[i].id.load() != 0)) visit(*one);
        }
    }

    /// The frames of a call stack, for people who look at a saved model.
    void name_context(uint32_t id, std::span<const calls::context_frame> frames);

    /// Reads a saved model into this knowledge, which is empty. False when it cannot: `complaint` says why, and this
    /// one is of no use. No such file: true, and `loaded` is not set.
    bool load(const char* path, bool& loaded, char* complaint, size_t complaint_bytes);
    /// Writes all models to a file, which is there as a whole or as it was before. 0, or an errno.
    int save(const char* path);

    [[nodiscard]] uint32_t threads_beyond() const { return threads_beyond_.load(); }
    [[nodiscard]] uint64_t calls_of_threads_beyond() const { return calls_beyond_.load(); }

  private:
    struct kept_thread {
        std::atomic<int> id;  // of the system; 0: none
        std::atomic<thread_model*> learnt;
    };
    static constexpr size_t names_bytes = size_t{16} << 20;

    class pages;
    /// 0, or an errno.
    int write_down(std::span<const model* const> models, pages& to);
    thread_model* find_model(calls::thread_state& thread);
    thread_model* make_model(uint32_t thread);

    model::settings each_;
    calls::memory_bound files_memory_;  // of whoever holds the lock of files_
    file_book files_;
    calls::patient_lock labels_lock_;
    calls::memory_bound labels_memory_;  // of whoever holds labels_lock_, as the labels
    label_table labels_;
    calls::tick_times times_;
    std::array<kept_thread, most_threads> threads_{};
    std::atomic<uint32_t> threads_beyond_{0};
    std::atomic<uint64_t> calls_beyond_{0};
};

}  // namespace halcyon::predict
