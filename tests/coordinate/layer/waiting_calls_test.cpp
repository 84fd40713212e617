// Which calls wait for a turn, and what ends the wait.
#include <setjmp.h>

#include "calls/state/known_files.hpp"
#include "calls/state/left_calls.hpp"
#include "coordinate/layer/called_layer.hpp"

namespace halcyon::tests {
namespace {

class waiting_calls : public layer_test {
  protected:
    /// `pause_s`: none of the test's calls are so far apart.
    waiting_calls() : layer_test({.mounts = {"/scratch", "/burst"}, .pause_s = 3600}) {
        page_.publish(0, permission::waiting, 0, {});
    }

    /// Makes the call in another thread, gives the turn once it waits, and returns whether it had to wait.
    bool waits(const made_call& one) {
        std::atomic<bool> done{false};
        std::thread caller([&] {
            process_.call(one);
            done = true;
        });
        wait_until([&] { return done || state().waiting == 1; });
        const bool waited = !done;
        allow();
        caller.join();
        EXPECT_EQ(state().waiting, 0);
        EXPECT_EQ(state().under_way, 0);
        page_.publish(0, permission::waiting, 0, {});
        return waited;
    }

    called_process process_{page_, 1};
};

TEST_F(waiting_calls, are_reads_writes_copies_and_syncs) {
    for (const call_id function :
         {call_id::pwrite, call_id::read, call_id::copy_file_range, call_id::fsync, call_id::fwrite, call_id::fflush})
        EXPECT_TRUE(waits({.function = function})) << calls::functions[static_cast<int>(function)].name;
}

TEST_F(waiting_calls, are_not_those_on_other_mounts) {
    EXPECT_FALSE(waits({.file = other_file}));
    EXPECT_FALSE(waits({.file = 0}));
    EXPECT_FALSE(waits({.file = calls::known_files::ignored}));
    EXPECT_FALSE(waits({.file = coordinated_file + (1U << 17U)}));  // another file at the same place of the table
}

TEST_F(waiting_calls, are_not_those_that_close_unlock_ask_or_seek) {
    for (const call_id function :
         {call_id::close, call_id::fclose, call_id::flock_unlock, call_id::fcntl_unlock, call_id::lockf_unlock,
          call_id::fstat, call_id::lseek, call_id::mmap, call_id::exit_flush, call_id::aio_write})
        EXPECT_FALSE(waits({.function = function})) << calls::functions[static_cast<int>(function)].name;
}

TEST_F(waiting_calls, are_not_those_that_may_not_block) {
    EXPECT_FALSE(waits({.function = call_id::preadv2, .about = {call_id::unknown, false, calls::expected::yes}}));
    EXPECT_EQ(process_.part().unasked, 4096);
    EXPECT_EQ(process_.part().let_others, 1U);
}

TEST_F(waiting_calls, are_not_those_of_streams_that_move_nothing) {
    EXPECT_FALSE(waits({.function = call_id::fwrite, .about = {call_id::unknown, true, calls::expected::no}}));
    EXPECT_TRUE(waits({.function = call_id::fwrite, .about = {call_id::unknown, true, calls::expected::not_known}}));
}

TEST_F(waiting_calls, are_not_those_below_a_call_that_only_starts_or_ends_a_transfer) {
    for (const call_id parent : {call_id::MPI_File_iwrite_all, call_id::MPI_Wait, call_id::MPI_File_write_all_end})
        EXPECT_FALSE(waits({.parent = 7, .about = {parent, true, calls::expected::yes}}));
    EXPECT_TRUE(waits({.parent = 7, .about = {call_id::MPI_File_write, true, calls::expected::yes}}));
}

TEST_F(waiting_calls, put_their_time_into_the_record) {
    std::atomic<int64_t> waited{0};
    std::thread caller([&] { waited = process_.call({}); });
    await_waiting(1);
    allow();
    caller.join();
    EXPECT_GT(waited, 0);
    EXPECT_GT(process_.part().waited_ns, 0);
    EXPECT_EQ(process_.call({}), 0);
}

TEST_F(waiting_calls, go_on_when_another_process_of_the_job_takes_a_lock) {
    called_process other(page_, 2);
    std::thread caller([&] { process_.call({}); });
    await_waiting(1);
    other.slot().locks = 1;
    caller.join();
    EXPECT_EQ(process_.part().let_locks, 1U);
    EXPECT_EQ(process_.part().unasked, 4096);
}

TEST_F(waiting_calls, know_a_lock_by_its_descriptor_whatever_else_fcntl_does_with_that) {
    waits({.function = call_id::flock, .bytes = 0, .moved = calls::none});
    waits({.function = call_id::fcntl, .bytes = 0, .moved = calls::none, .argument = F_GETFD});
    waits({.function = call_id::close, .bytes = 0, .moved = calls::none});
    EXPECT_EQ(process_.slot().locks, 0U);
    waits({.function = call_id::flock, .bytes = 0, .moved = calls::none});
    waits({.function = call_id::fcntl, .bytes = 0, .moved = calls::none, .argument = F_DUPFD_CLOEXEC});
    waits({.function = call_id::close, .bytes = 0, .moved = calls::none});
    EXPECT_EQ(process_.slot().locks, 1U);  // the duplicate has it
}

TEST_F(waiting_calls, wait_before_they_take_a_lock_and_not_while_they_hold_it) {
    EXPECT_TRUE(waits({.function = call_id::fcntl_lock, .bytes = 0, .moved = calls::none}));
    EXPECT_EQ(process_.slot().locks, 1U);
    EXPECT_FALSE(waits({}));
    EXPECT_FALSE(waits({.function = call_id::flock, .bytes = 0, .moved = calls::none}));
    EXPECT_FALSE(waits({.function = call_id::flock_unlock}));
    EXPECT_FALSE(waits({.function = call_id::fcntl_unlock, .bytes = 0}));
    EXPECT_EQ(process_.slot().locks, 0U);
    EXPECT_TRUE(waits({}));
}

TEST_F(waiting_calls, are_those_of_a_burst_of_names) {
    const uint32_t burst = page_.shared().least_burst;
    for (uint32_t i = 1; i < burst; ++i)
        EXPECT_EQ(process_.call({.function = call_id::unlink, .bytes = calls::none, .moved = calls::none}), 0);
    EXPECT_EQ(state().begun, 0U);
    EXPECT_TRUE(waits({.function = call_id::unlink, .bytes = calls::none, .moved = calls::none}));
    EXPECT_EQ(state().moved, 4096);
    EXPECT_EQ(state().operation, operation::metadata);
}

TEST_F(waiting_calls, wake_the_agent_that_sleeps_when_a_phase_begins) {
    page_.shared().bell.prepare();
    EXPECT_TRUE(waits({}));
    EXPECT_EQ(page_.shared().bell.word, agent_bell::awake);
    EXPECT_EQ(process_.part().begun, 1U);
}

TEST_F(waiting_calls, are_no_more_counted_when_a_jump_leaves_them) {
    struct sigaction jumps {};
    struct sigaction before {};
    static sigjmp_buf out;
    jumps.sa_handler = [](int) {
        calls::tell_of_left_calls.load()();
        siglongjmp(out, 1);
    };
    ASSERT_EQ(::sigaction(SIGUSR1, &jumps, &before), 0);
    std::atomic<bool> left{false};
    std::thread caller([&] {
        if (sigsetjmp(out, 1) == 0) process_.call({});
        left = true;
    });
    wait_until([&] { return state().waiting == 1; });
    ::pthread_kill(caller.native_handle(), SIGUSR1);
    wait_until([&] { return left.load(); });
    EXPECT_EQ(state().waiting + state().under_way, 0);
    caller.join();
    ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace halcyon::tests
