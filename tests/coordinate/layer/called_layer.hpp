#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/record/interception.hpp"
#include "coordinate/layer/coordinate_layer.hpp"
#include "coordinate/page/agent_page.hpp"
#include "coordinate/page/process_life.hpp"
#include "coordinate/page/slot_claim.hpp"

/// The layer without a library around it: its calls do what the test says.
namespace halcyon::tests {

using namespace halcyon::coordinate;
using calls::call_id;
using calls::call_record;

constexpr uint32_t coordinated_file = 1, other_file = 2, another_mounts_file = 3;
constexpr auto longest_wait = std::chrono::seconds(20);

/// Until `holds()`; a failure when that takes too long.
template <class Condition>
void wait_until(Condition holds) {
    const auto until = std::chrono::steady_clock::now() + longest_wait;
    while (!holds()) {
        ASSERT_LT(std::chrono::steady_clock::now(), until) << "it never came to that";
        std::this_thread::yield();
    }
}

/// One call of the application.
struct made_call {
    call_id function = call_id::pwrite;
    uint32_t file = coordinated_file;
    int64_t bytes = 4096;
    int64_t moved = 4096;
    uint16_t error = 0;
    int64_t argument = 0;
    int64_t offset = 0;
    uint32_t parent = 0;
    bool beside_layers = false;  ///< the process has other layers, too
    calls::call_circumstances about{call_id::unknown, true, calls::expected::yes};
    std::function<void()> meanwhile = [] {};
};

/// A process of its own, as far as the layer is concerned: several of them in one are threads of the test.
class called_process {
  public:
    called_process(agent_page& with, uint64_t owner, coming_io::source forecasts = nullptr,
                   const forecaster::budget& forecasting = {.share = 1, .credit_ns = 1'000'000'000})
        : page_(with) {
        slot_ = claim_slot(with.shared(), owner);
        char complaint[200];
        EXPECT_TRUE(layer_.start({&with.shared(), slot_, "", forecasts, forecasting}, complaint, sizeof complaint))
            << complaint;
        layer_.on_file({coordinated_file, "/scratch/data", 4096, 0});
        layer_.on_file({other_file, "/scratchy/data", 4096, 0});
        layer_.on_file({another_mounts_file, "/burst/data", 4096, 0});
    }

    ~called_process() {
        layer_.stop_forecasts();
        wait_until([&] { return layer_.asks().has_ended(); });
    }
    called_process(const called_process&) = delete;
    called_process& operator=(const called_process&) = delete;

    /// Returns how long the layer held it back, in ticks. `afterwards` sees the call when it is over.
    int64_t call(const made_call& one, const std::function<void(const call_record&)>& afterwards = {}) {
        call_record record = calls::blank_record(one.function);
        record.file = one.file;
        record.bytes = one.bytes;
        record.argument = one.argument;
        record.offset = one.offset;
        record.parent = one.parent;
        record.number = ++calls_;
        const auto run = [](void* state, call_record& called) {
            const auto& made = *static_cast<const made_call*>(state);
            if (called.start == 0) called.start = calls::ticks();
            made.meanwhile();
            called.duration = calls::ticks() - called.start;
            called.moved = made.moved;
            called.error = made.error;
        };
        const calls::next_call next(
            run, [](const void* state, const call_record&) { return static_cast<const made_call*>(state)->about; },
            const_cast<made_call*>(&one));
        // As calls::through_layers.
        if (const uint64_t entered = one.beside_layers ? 0 : layer_.enter(record); entered != 0) {
            next(record);
            if ((entered & calls::entering_layer::untimed) != 0) record.duration = 0;
            if (entered != calls::entering_layer::let_go) layer_.leave(record, entered);
        } else {
            layer_.invoke(record, next);
        }
        if (afterwards) afterwards(record);
        return record.wait;
    }

    [[nodiscard]] process_part& part(size_t file_system = 0) const { return slot_->at[file_system]; }
    [[nodiscard]] process_slot& slot() const { return *slot_; }
    [[nodiscard]] coordinate_layer& layer() { return layer_; }

  private:
    agent_page& page_;
    process_slot* slot_;
    static inline std::atomic<uint32_t> calls_{0};  // threads know the numbers of their calls
    coordinate_layer layer_;
};

/// A page whose agent and coordinator are alive for as long as the test says.
class layer_test : public testing::Test {
  protected:
    layer_test() : layer_test(agent_page::settings{.mounts = {"/scratch", "/burst"}}) {}
    /// By the processor's counter, as in processes: most calls look at nothing else there.
    explicit layer_test(const agent_page::settings& with) : page_(agent_page::create(with).value()) {
        calls::choose_tick_source();
        beat();
    }
    /// Now, and for so long.
    void beat(int64_t for_ns = 3600'000'000'000) {
        page_.beat(monotonic_ns() + for_ns);
        for (size_t i = 0; i < page_.file_systems(); ++i) page_.heard(i, monotonic_ns() + for_ns);
    }
    void allow(int64_t bytes = int64_t{1} << 40U) { page_.publish(0, permission::allowed, 0, bytes); }
    [[nodiscard]] node_state state(uint64_t stop_round = 0) const {
        return page_.observe(0, stop_round, monotonic_ns());
    }
    void await_waiting(int64_t calls) {
        wait_until([&] { return state().waiting == calls; });
    }

    agent_page page_;
};

}  // namespace halcyon::tests
