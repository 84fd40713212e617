#include "predict/layer/thread_model.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace halcyon::predict {

void thread_model::learn(const observed_call& call) {
    if (take(owner)) [[likely]] {
        learn_waiting();
        append(call);
        let_go();
        return;
    }
    const uint32_t end = waiting_end_.load(std::memory_order_relaxed);
    const bool broken = user_.load(std::memory_order_relaxed) == owner;  // by this thread, but it is here
    if (broken || end - waiting_begin_.load(std::memory_order_acquire) == most_waiting) {
        missed_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    waiting_[end % most_waiting] = call;
    waiting_end_.store(end + 1);
    if (!take(owner)) return;
    learn_waiting();
    let_go();
}

bool thread_model::take_patiently() {
    constexpr int64_t patience_ns = 20'000'000;
    const int64_t since = monotonic_ns();
    while (!take(other)) {
        if (monotonic_ns() - since > patience_ns) return false;
        calls::direct::yield();
    }
    return true;
}

void thread_model::let_go() {
    user_.store(nobody);
    // A call that came too late to be learnt, of a thread that came too early to take the model itself.
    while (waiting_begin_.load() != waiting_end_.load() && take(other)) {
        learn_waiting();
        user_.store(nobody);
    }
}

void thread_model::learn_waiting() {
    uint32_t begin = waiting_begin_.load(std::memory_order_relaxed);
    while (begin != waiting_end_.load(std::memory_order_acquire)) {
        append(waiting_[begin % most_waiting]);
        waiting_begin_.store(++begin, std::memory_order_release);
    }
}

void thread_model::append(const observed_call& call) {
    model_.append(call);
    if (model_.bursts().completed() != phases_) [[unlikely]] {
        phases_ = model_.bursts().completed();
        written_before_ = written_;
        written_ = 0;
    }
    if (call.what.what == policy::operation::write || call.what.what == policy::operation::copy)
        written_ += std::max<int64_t>(call.moved >= 0 ? call.moved : call.what.bytes, 0);
}

}  // namespace halcyon::predict
