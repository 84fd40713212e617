// Phases, leases, and what is counted of calls that return, jump, fork or die.
#include <pthread.h>
#include <sys/wait.h>

#include "calls/state/left_calls.hpp"
#include "coordinate/layer/called_layer.hpp"
#include "coordinate/stepped_process.hpp"
#include "sanitized.hpp"

namespace halcyon::tests {
namespace {

TEST_F(layer_test, counts_calls_alike_where_it_is_the_only_layer_and_beside_others) {
    allow();
    called_process process(page_, 1);
    for (const bool beside_layers : {false, true}) {
        const int64_t before = process.part().moved;
        int64_t under_way = 0;
        process.call(
            {.moved = 1000, .beside_layers = beside_layers, .meanwhile = [&] { under_way = state().under_way; }});
        EXPECT_EQ(under_way, 1);
        EXPECT_EQ(state().under_way, 0);
        EXPECT_EQ(process.part().moved - before, 1000);
    }
}

TEST_F(layer_test, counts_calls_alike_that_are_like_the_one_before_and_those_that_are_not) {
    allow();
    page_.shared().pause_ns = 3600'000'000'000;
    called_process process(page_, 1);
    process.call({});  // draws of the lease
    for (const call_id function : {call_id::pwrite, call_id::pwrite, call_id::pread, call_id::pread}) {
        const int64_t before = process.part().moved;
        process.call({.function = function, .moved = 1000, .meanwhile = [&] {
                          EXPECT_EQ(state().under_way, 1);
                          EXPECT_EQ(process.part().moved - before, 4096);
                      }});
        EXPECT_EQ(state().under_way, 0);
        EXPECT_EQ(process.part().moved - before, 1000);
        const auto expected = function == call_id::pread ? operation::read : operation::write;
        EXPECT_EQ(process.part().operation, static_cast<uint32_t>(expected));
    }
    page_.publish(0, permission::waiting, 0, {});
    std::thread waiting([&] { process.call({.function = call_id::pread}); });
    await_waiting(1);
    EXPECT_EQ(state().under_way, 0);
    allow();
    waiting.join();
}

TEST_F(layer_test, ends_a_call_where_it_began_though_its_file_is_forgotten_meanwhile) {
    allow();
    called_process process(page_, 1);
    process.call({});                      // draws of the lease
    constexpr uint32_t holds = 1U << 17U;  // files of file_mounts
    process.call({.moved = 1000, .meanwhile = [&] {
                      process.layer().on_file({coordinated_file + holds, "/elsewhere/data", 4096, 0});
                  }});
    EXPECT_EQ(state().under_way, 0);
}

TEST_F(layer_test, lets_no_call_enter_that_has_to_wait_or_belongs_to_others) {
    called_process process(page_, 1);
    const auto enters = [&](const made_call& one) {
        call_record record = calls::blank_record(one.function);
        record.file = one.file;
        record.bytes = one.bytes;
        record.parent = one.parent;
        const uint64_t entered = process.layer().enter(record);
        if (entered != 0 && entered != calls::entering_layer::let_go) process.layer().leave(record, entered);
        EXPECT_EQ(state().under_way, 0);
        return entered != 0;
    };
    page_.publish(0, permission::waiting, 0, {});
    EXPECT_FALSE(enters({}));
    EXPECT_TRUE(enters({.file = other_file}));
    EXPECT_TRUE(enters({.function = call_id::fstat}));
    EXPECT_FALSE(enters({.function = call_id::fwrite}));
    allow();
    EXPECT_FALSE(enters({}));  // it has drawn nothing of the lease yet
    process.call({});
    EXPECT_TRUE(enters({}));
    EXPECT_FALSE(enters({.parent = 7}));
}

TEST_F(layer_test, begins_a_phase_after_a_pause_only) {
    allow();
    page_.shared().pause_ns = 3600'000'000'000;
    called_process process(page_, 1);
    for (int i = 0; i < 100; ++i) process.call({});
    EXPECT_EQ(process.part().begun, 1U);
    page_.shared().pause_ns = 0;
    called_process pausing(page_, 2);
    pausing.call({});  // draws of the lease, and looks at the clock again for that
    const uint64_t begun = pausing.part().begun;
    for (int i = 0; i < 100; ++i) pausing.call({});
    EXPECT_EQ(pausing.part().begun, begun + 100);
}

TEST_F(layer_test, lets_the_first_call_of_a_phase_pass_under_a_standing_turn) {
    page_.publish(0, permission::standing, 0, 1 << 20);
    called_process process(page_, 1);
    page_.shared().bell.prepare();
    EXPECT_EQ(process.call({}), 0);
    EXPECT_EQ(page_.shared().bell.word, agent_bell::awake);
    EXPECT_EQ(process.part().moved, 4096);
    EXPECT_EQ(process.part().unasked, 0);
}

TEST_F(layer_test, counts_what_calls_moved_and_not_what_they_asked_for) {
    allow();
    called_process process(page_, 1);
    process.call({.bytes = 10'000, .moved = 1000});
    process.call({.bytes = 10'000, .moved = calls::none, .error = EIO});
    process.call({.function = call_id::aio_return_write, .bytes = calls::none, .moved = 500});
    EXPECT_EQ(state().moved, 1500);
}

TEST_F(layer_test, counts_no_more_of_a_call_than_a_call_can_move) {
    constexpr int64_t as_cp_asks_for = INT64_MAX >> 30U << 30U, most = 0x7ffff000;
    allow();
    page_.shared().pause_ns = 3600'000'000'000;
    called_process process(page_, 1);
    for (const bool beside_layers : {false, false, true}) {  // the second one is like the one before
        const int64_t before = process.part().moved;
        process.call({.function = call_id::copy_file_range,
                      .bytes = as_cp_asks_for,
                      .beside_layers = beside_layers,
                      .meanwhile = [&] { EXPECT_EQ(process.part().moved - before, most); }});
        EXPECT_EQ(process.part().moved - before, 4096);
    }
    EXPECT_LE(process.part().limit, 2 * most) << "so much is drawn of the lease";
    EXPECT_GE(state().pool, (int64_t{1} << 40U) - 2 * most);
}

TEST_F(layer_test, counts_no_bytes_of_a_sync) {
    allow();
    called_process process(page_, 1);
    process.call({});  // draws of the lease
    const int64_t pool = state().pool;
    for (const call_id function : {call_id::msync, call_id::sync_file_range})
        process.call({.function = function, .bytes = int64_t{1} << 40U, .moved = calls::none, .meanwhile = [&] {
                          EXPECT_EQ(state().moved, 4096);
                          EXPECT_EQ(state().under_way, 1);
                      }});
    EXPECT_EQ(state().moved, 4096);
    EXPECT_EQ(state().pool, pool);
}

TEST_F(layer_test, stops_when_the_lease_is_used_up_and_goes_on_when_it_is_renewed) {
    allow(1 << 20);
    called_process process(page_, 1);
    std::atomic<int> done{0};
    std::thread caller([&] {
        for (int i = 0; i < 400; ++i, ++done) process.call({.bytes = 8192, .moved = 8192});
    });
    wait_until([&] { return state().waiting == 1; });
    // Not much more than the lease: what it had drawn last.
    EXPECT_GE(done, 128);
    EXPECT_LE(done, 160);
    EXPECT_LE(state().pool, 0);
    wait_until([&] {
        const node_state now = state();
        if (now.waiting == 1 && now.pool <= 0) page_.publish(0, permission::allowed, 0, 1 << 20);
        return done == 400;
    });
    caller.join();
    EXPECT_EQ(state().moved, 400 * 8192);
}

TEST_F(layer_test, wakes_the_agent_when_half_of_the_lease_is_used) {
    allow(1 << 20);
    page_.shared().pause_ns = 3600'000'000'000;  // a phase that begins wakes it, too
    called_process process(page_, 1);
    process.call({});
    page_.shared().bell.prepare();
    int calls = 1;
    for (; page_.shared().bell.word == agent_bell::asleep; ++calls) process.call({});
    // Drawn is a chunk ahead of moved.
    EXPECT_GE(calls * 4096, (1 << 19) - (64 << 10));
    EXPECT_LE(calls * 4096, (1 << 19) + (64 << 10));
}

TEST_F(layer_test, goes_on_unasked_when_the_agent_is_silent_until_it_is_back) {
    page_.publish(0, permission::waiting, 0, {});
    called_process process(page_, 1);
    beat(-2 * page_.shared().patience_ns);
    process.call({});
    EXPECT_EQ(turn_word::state(page_.shared().file_system[0].turn), permission::closed);
    EXPECT_TRUE(page_.was_replaced(0));
    EXPECT_EQ(process.part().let_silent, 1U);
    process.call({});
    EXPECT_EQ(process.part().let_silent, 1U);  // not again
    EXPECT_EQ(process.part().unasked, 8192);
    beat();
    allow();
    process.call({});
    EXPECT_EQ(process.part().moved, 4096);
}

TEST_F(layer_test, goes_on_unasked_when_the_coordinator_is_silent) {
    page_.publish(0, permission::waiting, 0, {});
    called_process process(page_, 1);
    page_.heard(0, monotonic_ns() - 2 * page_.shared().patience_ns);
    process.call({});
    EXPECT_EQ(turn_word::state(page_.shared().file_system[0].turn), permission::unasked);
}

class starving_layer : public layer_test {
  protected:
    starving_layer() : layer_test({.mounts = {"/scratch", "/burst"}, .starvation_s = 0.02, .pause_s = 3600}) {}
};

TEST_F(starving_layer, goes_on_for_the_rest_of_a_phase_that_waited_for_too_long) {
    page_.publish(0, permission::waiting, 0, {});
    called_process process(page_, 1);
    EXPECT_GT(process.call({}), 0);
    EXPECT_EQ(process.call({}), 0);
    EXPECT_EQ(process.part().let_starving, 2U);
    EXPECT_EQ(process.part().unasked, 8192);
}

TEST_F(starving_layer, waits_again_in_the_same_phase_once_the_turn_was_had) {
    page_.publish(0, permission::waiting, 0, {});
    called_process process(page_, 1);
    EXPECT_GT(process.call({}), 0);
    allow();
    EXPECT_EQ(process.call({}), 0);
    EXPECT_EQ(process.part().moved, 4096);
    page_.publish(0, permission::waiting, 0, {});
    EXPECT_GT(process.call({}), 0);
    EXPECT_EQ(state().begun, 1U);
}

TEST_F(starving_layer, goes_by_the_limit_of_its_own_file_system) {
    for (const size_t at : {0U, 1U}) page_.publish(at, permission::waiting, 0, {});
    page_.limit_waits(0, 3600);
    called_process process(page_, 1);
    std::thread caller([&] { process.call({}); });
    await_waiting(1);
    EXPECT_GT(process.call({.file = another_mounts_file}), 0);
    EXPECT_EQ(process.part(1).let_starving, 1U);
    EXPECT_EQ(state().waiting, 1);
    page_.limit_waits(0, 0.02);  // those that wait already, too
    caller.join();
    EXPECT_EQ(process.part(0).let_starving, 1U);
}

struct jumped {};

TEST_F(layer_test, counts_a_call_no_more_that_a_jump_left) {
    allow();
    called_process process(page_, 1);
    const auto jump = [] {
        calls::tell_of_left_calls.load()();
        throw jumped();
    };
    EXPECT_THROW(process.call({.meanwhile = jump}), jumped);
    EXPECT_EQ(state().under_way, 0);
    process.call({.meanwhile = [&] { EXPECT_EQ(state().under_way, 1); }});
    EXPECT_EQ(state().under_way, 0);
}

TEST_F(layer_test, counts_a_call_no_more_whose_thread_was_cancelled) {
    allow();
    called_process process(page_, 1);
    ++calls::this_process().generation;  // it is not 0 in a process that records
    std::thread([&] { process.call({.meanwhile = [] { pthread_exit(nullptr); }}); }).join();
    --calls::this_process().generation;
    EXPECT_EQ(state().under_way, 0);
}

/// A handler forked within the call; the child comes back out of it before it has made a call of its own.
TEST_F(layer_test, leaves_the_counts_of_the_parent_alone_in_a_child_that_comes_back_out_of_its_call) {
    allow();
    called_process process(page_, 1);
    pid_t child = -1;
    process.call({.moved = 1000, .meanwhile = [&] {
                      child = ::fork();
                      if (child == 0) ++calls::this_process().generation;  // it differs from the parent's
                  }});
    if (child == 0) ::_exit(0);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_EQ(state().under_way, 0);
    EXPECT_EQ(state().moved, 1000);
}

TEST_F(layer_test, forgets_the_calls_of_the_program_before) {
    called_process before(page_, 1);
    before.part().under_way = before.part().waiting = 1;
    called_process after(page_, 1);
    EXPECT_EQ(state().under_way + state().waiting, 0);
}

TEST_F(layer_test, counts_a_call_of_a_handler_within_another_one) {
    allow();
    called_process process(page_, 1);
    process.call({.meanwhile = [&] {
        EXPECT_EQ(state().under_way, 1);
        process.call({.meanwhile = [&] { EXPECT_EQ(state().under_way, 2); }});
        EXPECT_EQ(state().under_way, 1);
    }});
    EXPECT_EQ(state().under_way, 0);
}

/// The turn is taken after each instruction of a call: either the agent sees the call, or the call sees the turn.
TEST_F(layer_test, shows_the_agent_each_call_that_does_not_see_the_end_of_the_turn) {
    if (sanitized) GTEST_SKIP() << "too many steps under a sanitizer";
    process_part& part = claim_slot(page_.shared(), 1)->at[0];
    std::atomic<int64_t>& began = page_.shared().file_system[1].wait_ns;
    int waited = 0, seen = 0;
    for (int steps = 0;; ++steps) {
        allow();
        began = 0;
        called_process process(page_, 1);
        process.call({});  // what it does once is done
        const made_call one{.meanwhile = [&] { began = 1; }};
        stepped_process caller([] {}, [&] { process.call(one); });
        if (!caller.step(steps)) break;
        page_.publish(0, permission::waiting, 0, {});
        const bool is_seen = part.under_way != 0 || began == 1;
        caller.let_go();
        wait_until([&] { return caller.has_ended() || part.waiting == 1; });
        const bool waits = part.waiting == 1;
        EXPECT_TRUE(is_seen || waits) << "after " << steps << " instructions";
        ++(waits ? waited : seen);
        allow();
        wait_until([&] { return caller.has_ended(); });
    }
    EXPECT_GT(waited, 10);
    EXPECT_GT(seen, 10);
}

TEST_F(layer_test, counts_no_call_out_that_a_jump_left_before_it_was_counted) {
    called_process process(page_, 1);
    forecaster asks_nobody;
    turn_taker taker;
    taker.start(page_.shared(), process.slot(), 0, 1, asks_nobody);
    own_calls own{};
    own.depth[0] = own.waits[0] = 1;
    taker.forget_calls(own);
    EXPECT_EQ(process.part().under_way, 0U);
    EXPECT_EQ(process.part().waiting, 0U);
}

}  // namespace
}  // namespace halcyon::tests
