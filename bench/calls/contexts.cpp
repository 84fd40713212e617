/// What the context of a call costs: from the walk over a stack of 20 functions, each of its own code, to the number in
/// the record, once the stack is known; and what calls cost that get none.
///
/// One process hands calls to a layer that does nothing, in blocks with contexts, without, and without again, in turn.
#include <array>
#include <ctime>

#include "bench/figure.hpp"
#include "calls/backends/mounts.hpp"
#include "calls/record/interception.hpp"

namespace halcyon::calls {
namespace {

class idle_layer final : public layer {
  public:
    void invoke(call_record& record, const next_call& next) override {
        next(record);
        seen += record.context;
    }
    [[nodiscard]] bool wants_contexts() const override { return true; }

    void on_context(uint32_t, std::span<const context_frame> told) override { frames = told.size(); }

    uint64_t seen = 0;
    size_t frames = 0;
};
idle_layer idle;

}  // namespace

bool can_start_layers() {
    return true;
}

void backends::start_backends() {}

void backends::answer_streams() {}

void start_layers(layer_chain& layers) {
    layers.clear();
    layers.add(idle);
}

const char* const* environment_of_children() {
    static const char* const none[] = {nullptr};
    return none;
}

const char* shared_folder() {
    return "";
}

}  // namespace halcyon::calls

namespace {

using namespace halcyon::calls;

constexpr int calls_per_block = 2000;
constexpr int wanted = 10;  // rounds
constexpr int blocks = 50;
constexpr size_t frames = 20;

double now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Nanoseconds for each call.
[[gnu::noinline]] double make_block(bool with_contexts) {
    this_process().contexts = with_contexts;
    const double begin = now_ns();
    for (int i = 0; i < calls_per_block; ++i) {
        call_record record = blank_record(call_id::write);
        record.file = 1;
        report(this_thread(), record);
    }
    return (now_ns() - begin) / calls_per_block;
}

[[gnu::noinline]] void measure() {
    for (int warm_up = 0; warm_up < 10; ++warm_up) make_block(warm_up % 2 == 0);
    for (halcyon::bench::rounds r(wanted); r.next();) {
        halcyon::bench::interleaved took;
        for (int block = 0; block < blocks; ++block) {
            std::array<double, 3> ns{};
            for (int turn = 0; turn < 3; ++turn) {
                const int what = (block + turn) % 3;
                ns[what] = make_block(what == 0);
            }
            took.add(ns[0], ns[1], ns[2]);
        }
        took.difference(r, "context_us", 1e-3, "us");
    }
}

/// As many functions, each called from its own place, as the stack that is walked within make_block has `frames`.
template <size_t depth>
[[gnu::noinline]] void descend() {
    this_process().contexts = true;
    call_record record = blank_record(call_id::write);
    report(this_thread(), record);
    // Between here and the calls that are measured lie two more.
    if (idle.frames + 2 == frames)
        measure();
    else if constexpr (depth < frames)
        descend<depth + 1>();
    asm volatile("");
}

}  // namespace

int main() {
    if (!start_recording() || !this_process().contexts) {
        halcyon::bench::unmet("context_us", "call stacks cannot be walked on this machine");
        return 0;
    }
    descend<1>();
    if (idle.frames == frames) return 0;
    std::fprintf(stderr, "error: the stack had %zu frames; expected %zu\n", idle.frames, frames);
    return 1;
}
