#pragma once

#include <atomic>
#include <cstdint>

#include "calls/state/direct_call.hpp"
#include "predict/model/model.hpp"

namespace halcyon::predict {

/// The model of one thread, which others may ask.
///
/// One at a time uses the model: who takes `user_`. The thread itself learns; when somebody else has the model, it puts
/// the call into `waiting_` and goes on, and whoever has the model learns what waits there before letting it go, and
/// looks once more after that: so nothing stays behind, and the thread never waits. A handler of a signal that
/// interrupts learning makes no calls that are learnt (thread_state::inside). A jump out of learning, or the end of the
/// thread in its middle, leaves a model that nobody may use any more: `user_` stays `owner`.
class thread_model {
  public:
    /// `thread`: number of the process' thread that it is of.
    thread_model(const model::settings& chosen, const file_names& names, uint32_t thread)
        : thread_(thread), model_(chosen, names) {}

    /// By its thread alone.
    void learn(const observed_call& call);

    /// The model for its own thread, until it gives it back; null when somebody else has it. A jump in between breaks
    /// it.
    [[nodiscard]] model* borrow() { return take(owner) ? &model_ : nullptr; }
    void give_back() {
        learn_waiting();
        let_go();
    }

    /// The model for any thread, until it is released; null when it could not be had for so long that its thread must
    /// have been stopped in the middle of learning.
    [[nodiscard]] model* hold() {
        if (!take_patiently()) return nullptr;
        learn_waiting();
        return &model_;
    }
    void release() {
        learn_waiting();
        let_go();
    }

    /// Another thread goes on with this model: the one before has ended.
    void pass_to(uint32_t thread) { thread_.store(thread, std::memory_order_relaxed); }
    /// Of a thread that has ended.
    [[nodiscard]] bool is_broken() const { return user_.load() == owner; }
    [[nodiscard]] uint32_t thread() const { return thread_.load(std::memory_order_relaxed); }

    /// Calls that came but were not learnt, since the model was in use for too long, or is broken.
    [[nodiscard]] uint64_t missed() const { return missed_.load(std::memory_order_relaxed); }

    /// For whoever asks: bytes that were written in the phase under way, and in the one before; not_known: there is
    /// none.
    [[nodiscard]] int64_t written() const { return written_; }
    [[nodiscard]] int64_t written_before() const { return written_before_; }

  private:
    enum user : uint32_t { nobody = 0, owner, other };
    static constexpr uint32_t most_waiting = 256;

    bool take(user who) {
        uint32_t free = nobody;
        return user_.compare_exchange_strong(free, who);
    }
    bool take_patiently();
    void let_go();
    void learn_waiting();
    void append(const observed_call& call);

    std::atomic<uint32_t> user_{nobody};
    std::atomic<uint32_t> thread_;
    std::atomic<uint64_t> missed_{0};
    // Written by the thread at `end`, learnt by who has the model at `begin`; both only grow.
    std::atomic<uint32_t> waiting_begin_{0};
    std::atomic<uint32_t> waiting_end_{0};
    int64_t written_ = 0;
    int64_t written_before_ = policy::not_known;
    uint64_t phases_ = 0;
    model model_;
    observed_call waiting_[most_waiting];
};

}  // namespace halcyon::predict
