// Calls within calls of the same thread: of handlers of signals, and those that streams tell of when they are over.
#include "coordinate/layer/called_layer.hpp"

namespace halcyon::tests {
namespace {

/// A call that waits although it may not ends soon, as one that has starved.
class nested_calls : public layer_test {
  protected:
    explicit nested_calls(double starvation_s = 0.2)
        : layer_test({.mounts = {"/scratch", "/burst"}, .starvation_s = starvation_s}) {}

    /// The turn becomes `turn` within a call, and another call at `file` comes within that one.
    void call_within(permission turn, uint32_t file) {
        allow();
        page_.publish(1, permission::waiting, 0, {});
        process_.call({.meanwhile = [&] {
            page_.publish(0, turn, 1, {});
            process_.call({.file = file});
        }});
    }
    /// As fwrite does, the bytes of which are told by a call that is over.
    int64_t write_stream(
        int64_t bytes, const std::function<void()>& before_told = [] {}) {
        return process_.call({.function = call_id::fwrite, .bytes = bytes, .moved = bytes, .meanwhile = [&, bytes] {
                                  before_told();
                                  process_.call({.function = call_id::stdio_write,
                                                 .bytes = bytes,
                                                 .moved = bytes,
                                                 .parent = 1,
                                                 .about = {call_id::fwrite, false, calls::expected::yes}});
                              }});
    }

    called_process process_{page_, 1};
};

/// Calls that may wait, for as long as this takes on a busy node.
class patient_nested_calls : public nested_calls {
  protected:
    patient_nested_calls() : nested_calls(3600) {}
};

TEST_F(nested_calls, go_on_under_the_lease_while_a_stop_waits_for_the_call_around_them) {
    for (const permission turn : {permission::hold, permission::stop}) call_within(turn, coordinated_file);
    EXPECT_EQ(process_.part().let_starving, 0U);
    EXPECT_EQ(process_.part().unasked, 0);
    EXPECT_EQ(process_.part().moved, 4 * 4096);
    EXPECT_EQ(state().under_way, 0);
}

TEST_F(nested_calls, go_on_out_of_turn_where_the_call_around_them_has_lost_its_turn) {
    call_within(permission::waiting, coordinated_file);
    EXPECT_EQ(process_.part().let_starving, 0U);
    EXPECT_EQ(process_.part().let_others, 1U);
    EXPECT_EQ(process_.part().unasked, 4096);
    EXPECT_EQ(state().under_way, 0);
}

TEST_F(nested_calls, wait_at_no_other_file_system_for_which_the_call_around_them_would_wait) {
    call_within(permission::hold, another_mounts_file);
    EXPECT_EQ(process_.part(1).let_starving, 0U);
    EXPECT_EQ(process_.part(1).let_others, 1U);
    EXPECT_EQ(page_.observe(1, 0, monotonic_ns()).waiting, 0);
}

TEST_F(nested_calls, of_streams_count_under_the_lease_that_their_stream_began_under) {
    allow(1 << 16U);
    write_stream(4096, [&] { page_.publish(0, permission::hold, 0, {}); });
    allow(1 << 16U);
    write_stream(1 << 20U);
    EXPECT_EQ(process_.part().let_others, 0U);
    EXPECT_EQ(process_.part().unasked, 0);
    EXPECT_EQ(process_.part().moved, 4096 + (1 << 20U));
}

TEST_F(patient_nested_calls, of_streams_wait_once_nothing_is_left_of_the_lease) {
    allow(1 << 16U);
    EXPECT_EQ(write_stream(1 << 20U), 0);
    std::atomic<int64_t> waited{0};
    std::thread caller([&] { waited = write_stream(4096); });
    wait_until([&] { return state().waiting == 1; });
    EXPECT_EQ(process_.part().moved, 1 << 20U);
    allow();
    caller.join();
    EXPECT_GT(waited, 0);
    EXPECT_EQ(process_.part().moved, 4096 + (1 << 20U));
}

}  // namespace
}  // namespace halcyon::tests
