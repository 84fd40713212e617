// When forecasts are asked for, in which thread, and what of them goes into the page. The forecasts are made up.
#include "coordinate/layer/forecaster.hpp"

#include <mutex>

#include "coordinate/layer/called_layer.hpp"

namespace halcyon::tests {
namespace {

constexpr int64_t ms = 1'000'000, mib = int64_t{1} << 20U;

/// What a process is said to do: the same whenever it is asked.
struct made_up {
    std::vector<coming_io::access> accesses;
    int64_t next_phase_ns = io_forecast::not_known;
    double confidence = 1;
    bool known = true;
    bool cut_off = false;
};
std::mutex guards;  // of all below
made_up said;
std::atomic<uint64_t> asked{0};
std::thread::id asked_by;

bool tell(coming_io::forecast& found) {
    const std::lock_guard here(guards);
    asked_by = std::this_thread::get_id();
    found = {};
    found.whole.threads = 1;
    found.whole.next_phase_ns = said.next_phase_ns;
    found.whole.next_phase_confidence = said.confidence;
    found.cut_off = said.cut_off;
    found.count = said.accesses.size();
    std::copy(said.accesses.begin(), said.accesses.end(), found.accesses);
    ++asked;
    return said.known;
}

coming_io::access write_of(int64_t bytes, int64_t begins_ns, int64_t duration_ns, uint32_t file = coordinated_file) {
    return {file, true, bytes, begins_ns, duration_ns};
}
void say(const made_up& what) {
    const std::lock_guard here(guards);
    said = what;
    asked = 0;
}

class forecasts : public layer_test {
  protected:
    /// `pause_s`: none of the test's calls are so far apart.
    explicit forecasts(double pause_s = 1000) : layer_test({.mounts = {"/scratch", "/burst"}, .pause_s = pause_s}) {
        allow();
    }
    void await(uint64_t times) {
        wait_until([&] { return asked == times && process_.layer().asks().made() == times; });
    }
    /// A call during which that is asked for.
    void begin(int64_t bytes = mib) {
        process_.call({.bytes = bytes, .moved = bytes, .meanwhile = [&] { await(1); }});
    }
    void move(int64_t bytes) {
        for (; bytes > 0; bytes -= mib / 4) process_.call({.bytes = mib / 4, .moved = mib / 4});
    }
    [[nodiscard]] phase_forecast told(size_t file_system = 0) const {
        return phase_forecast::read_from(process_.part(file_system).forecast);
    }

    called_process process_{page_, 1, tell};
};

class forecasts_of_short_pauses : public forecasts {
  protected:
    forecasts_of_short_pauses() : forecasts(0.01) {}
};

TEST_F(forecasts, are_asked_for_once_when_a_phase_begins_by_a_thread_of_ours) {
    say({{write_of(mib, 0, ms), write_of(3 * mib, 2 * ms, 3 * ms)}});
    begin();
    EXPECT_NE(asked_by, std::this_thread::get_id());
    EXPECT_EQ(told().told_bytes, 0);
    EXPECT_EQ(told().bytes_left, 4 * mib);
    EXPECT_EQ(told().left_ns, 5 * ms);
    EXPECT_EQ(state().bytes_left, 3 * mib) << "the first call has moved";
    EXPECT_NEAR(state().left_s, 0.00375, 1e-6);
    process_.call({});
    process_.call({});
    EXPECT_EQ(asked, 1U);
}

TEST_F(forecasts, of_a_loop_that_has_never_ended_are_none) {
    say({.accesses = {write_of(mib, 0, ms), write_of(mib, ms, ms)}, .cut_off = true});
    begin();
    EXPECT_EQ(told().bytes_left, 0);
    EXPECT_EQ(told().left_ns, 0);
}

TEST_F(forecasts, tell_the_agent_by_its_bell) {
    say({{write_of(mib, 0, ms)}});
    process_.call({.meanwhile = [&] {
        await(1);
        wait_until([&] { return state().forecasts > 0; });
    }});
    page_.shared().bell.prepare();
    say({{write_of(mib, 0, ms)}});
    move(20 * mib);
    wait_until([&] { return page_.shared().bell.word == agent_bell::awake; });
}

TEST_F(forecasts, are_asked_for_again_when_a_quarter_more_has_moved) {
    say({{write_of(8 * mib, 0, 1000'000 * ms)}});
    begin();
    move(9 * mib - mib / 4);  // 9.75 MiB of 8
    EXPECT_EQ(asked, 1U);
    move(2 * mib);
    await(2);
}

TEST_F(forecasts_of_short_pauses, are_asked_for_again_when_the_phase_takes_a_quarter_longer) {
    say({{write_of(1000 * mib, 0, 200 * ms)}});
    const int64_t since_ns = monotonic_ns();
    process_.call({.meanwhile = [&] {
        wait_until([&] { return told().left_ns == 200 * ms; });
        wait_until([&] { return asked >= 2; });
    }});
    EXPECT_GE(monotonic_ns() - since_ns, 250 * ms);
}

TEST_F(forecasts_of_short_pauses, are_asked_for_when_the_phase_is_over) {
    say({{write_of(mib, 0, 1000'000 * ms)}});
    process_.call({.bytes = mib, .moved = mib, .meanwhile = [&] {
                       await(1);
                       say({{write_of(2 * mib, 480 * ms, 40 * ms)}, 470 * ms, 0.9});
                   }});
    wait_until([&] { return asked == 1 && process_.layer().asks().made() == 2; });
    EXPECT_EQ(told().bytes_left, 0);
    EXPECT_EQ(told().next_in_ns, 470 * ms) << "as the process' own phases say, which know more than a walk";
    EXPECT_EQ(told().next_bytes, 2 * mib);
    EXPECT_EQ(told().next_alone_ns, 40 * ms);
    EXPECT_NEAR(told().next_probability, 0.9, 1e-5);
    const node_state then = page_.observe(0, 0, told().told_ns);
    EXPECT_EQ(then.bytes_left, 0);
    EXPECT_EQ(then.next_bytes, 2 * mib);
}

TEST_F(forecasts, go_to_the_file_systems_of_their_files) {
    say({{write_of(mib, 0, ms), write_of(2 * mib, ms, ms, another_mounts_file),
          write_of(4 * mib, 2 * ms, ms, other_file), write_of(8 * mib, 3 * ms, ms, 0)}});
    begin();
    EXPECT_EQ(told(0).bytes_left, 9 * mib) << "what is not known lies where the phase begins";
    EXPECT_EQ(told(1).bytes_left, 2 * mib);
}

TEST_F(forecasts, leave_the_page_as_it_is_where_nothing_is_known) {
    say({.accesses = {}, .known = false});
    begin();
    EXPECT_EQ(told(), phase_forecast{});
    EXPECT_EQ(state().bytes_left, 0);
}

TEST_F(forecasts, are_not_asked_for_where_nobody_makes_any) {
    say({});
    called_process other(page_, 2);
    other.call({.bytes = 100 * mib, .moved = 100 * mib});
    EXPECT_EQ(asked, 0U);
}

TEST_F(forecasts, are_left_out_when_they_have_taken_too_much_time) {
    say({{write_of(mib, 0, ms)}});
    called_process other(page_, 2, tell, {.share = 0, .credit_ns = -1});
    other.call({.meanwhile = [&] { wait_until([&] { return other.layer().asks().left_out() == 1; }); }});
    EXPECT_EQ(asked, 0U);
}

TEST_F(forecasts, of_the_program_before_are_forgotten) {
    phase_forecast{.told_ns = 5, .bytes_left = 7}.write_to(process_.part().forecast);
    called_process again(page_, 1, tell);
    EXPECT_EQ(told(), phase_forecast{});
}

TEST_F(forecasts, do_not_take_the_place_of_one_that_the_program_tells_at_the_same_time) {
    say({{write_of(mib, 0, ms)}});
    phase_forecast{.told_ns = 5, .bytes_left = 7}.write_if(process_.part().forecast, [&] {
        process_.call({.meanwhile = [] { wait_until([] { return asked == 1; }); }});
        process_.slot().by_itself.at[0].forecasts = 1;
        return true;
    });
    await(1);
    EXPECT_EQ(told().bytes_left, 7);
}

TEST_F(forecasts, are_not_begun_any_more_when_the_process_ends) {
    say({{write_of(8 * mib, 0, 1000'000 * ms)}});
    begin();
    process_.layer().stop_forecasts();
    move(40 * mib);
    EXPECT_EQ(asked, 1U);
}

TEST_F(forecasts, of_many_threads_come_one_after_the_other) {
    say({{write_of(mib / 4, 0, ms)}});
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i) callers.emplace_back([&] { move(50 * mib); });
    for (std::thread& one : callers) one.join();
    wait_until([&] { return process_.layer().asks().made() == asked && asked >= 1; });
    EXPECT_EQ(state().moved, 200 * mib);
}

// --- what they mean ---

class coming : public layer_test {
  protected:
    coming() {
        files_.start(page_.shared());
        files_.name(coordinated_file, "/scratch/data");
        files_.name(another_mounts_file, "/burst/data");
        found_->whole.next_phase_ns = io_forecast::not_known;
    }
    coming_phases::said at(const std::vector<coming_io::access>& accesses, bool begins, size_t file_system = 0) {
        found_->count = accesses.size();
        std::copy(accesses.begin(), accesses.end(), found_->accesses);
        return coming_phases(*found_, files_, 10 * ms).at(file_system, begins, false);
    }

    file_mounts files_;
    std::unique_ptr<coming_io::forecast> found_ = std::make_unique<coming_io::forecast>();
};

TEST_F(coming, phases_are_cut_where_a_file_system_pauses_though_others_do_not) {
    const auto found =
        at({write_of(1, 0, ms), write_of(2, 8 * ms, ms), write_of(50, 12 * ms, 90 * ms, another_mounts_file),
            write_of(4, 100 * ms, ms), write_of(8, 105 * ms, ms), write_of(16, 300 * ms, ms)},
           false);
    EXPECT_EQ(found.what.bytes_left, 3);
    EXPECT_EQ(found.what.left_ns, 9 * ms);
    EXPECT_EQ(found.what.next_in_ns, 100 * ms);
    EXPECT_EQ(found.what.next_bytes, 12);
    EXPECT_EQ(found.what.next_alone_ns, 6 * ms);
    EXPECT_TRUE(found.complete && found.next_complete);
    EXPECT_NEAR(found.ns_per_byte, 15.0 * ms / 15, 1);
}

TEST_F(coming, a_phase_that_begins_is_the_next_one_however_early_it_is) {
    const std::vector<coming_io::access> all = {write_of(1, 40 * ms, ms), write_of(2, 42 * ms, ms),
                                                write_of(4, 140 * ms, ms)};
    EXPECT_EQ(at(all, false).what.bytes_left, 0);
    EXPECT_EQ(at(all, false).what.next_bytes, 3);
    EXPECT_EQ(at(all, true).what.bytes_left, 3);
    EXPECT_EQ(at(all, true).what.left_ns, 3 * ms);
    EXPECT_EQ(at(all, true).what.next_in_ns, 100 * ms);
    EXPECT_FALSE(at(all, true).next_complete);
}

TEST_F(coming, a_phase_is_endless_where_the_walk_was_cut_off_before_a_pause) {
    found_->cut_off = true;
    EXPECT_TRUE(at({write_of(1, 0, ms)}, false).endless);
    EXPECT_FALSE(at({write_of(1, 0, ms), write_of(1, 50 * ms, ms)}, false).endless);
    found_->cut_off = false;
    EXPECT_FALSE(at({write_of(1, 0, ms)}, false).endless) << "the program may end there";
}

TEST_F(coming, calls_that_move_nothing_are_no_part_of_a_phase) {
    coming_io::access open = write_of(0, 0, ms);
    open.moves = false;
    const auto found = at({open, write_of(1, 50 * ms, ms)}, false);
    EXPECT_EQ(found.what.next_in_ns, 50 * ms);
    EXPECT_EQ(found.what.bytes_left, 0);
}

TEST(phase_habits, are_believed_where_the_walk_is_off) {
    phase_habit of;
    for (int64_t i = 0; i < 20; ++i) {
        of.begins(i * 100 * ms);
        of.walk_says(i % 2 == 0 ? 1 : 100);
        of.walk_says_of_next(50);
        of.ends(50, i == 7 ? 500 * ms : i == 8 ? -1 : 50);
    }
    EXPECT_TRUE(of.is_nearer());
    EXPECT_FALSE(of.is_nearer_of_next()) << "either is right";
    EXPECT_EQ(of.bytes(), 50);
    EXPECT_EQ(of.interval_ns(), 100 * ms);
    EXPECT_EQ(of.ns_per_byte(), 1);
}

TEST(phase_habits, learn_no_time_beside_others) {
    phase_habit of;
    of.begins(0);
    of.ends(50, 100);
    of.begins(1);
    of.ends(50, -1);
    EXPECT_EQ(of.ns_per_byte(), 2);
}

TEST(phase_habits, are_not_believed_where_the_walk_knows_the_pattern) {
    phase_habit of;
    for (int64_t i = 0; i < 20; ++i) {
        of.begins(i);
        of.walk_says(i % 2 == 0 ? 10 : 90);
        of.walk_says_of_next(i % 2 == 0 ? 90 : 10);
        of.ends(i % 2 == 0 ? 10 : 90, 0);
    }
    EXPECT_FALSE(of.is_nearer());
    EXPECT_FALSE(of.is_nearer_of_next());
}

// --- what others do meanwhile ---

class others_beside : public layer_test {
  protected:
    others_beside() { allow(); }
    /// A call that is over.
    bool beside_others(made_call made) {
        bool found = false;
        process_.call(made, [&](const call_record& over) { found = process_.layer().moved_beside_others(over); });
        return found;
    }
    called_process process_{page_, 1};
};

TEST_F(others_beside, are_known_of_each_call) {
    page_.publish(1, permission::allowed, 0, int64_t{1} << 40U);
    EXPECT_FALSE(beside_others({}));
    page_.tell_others_move(0, true);
    page_.tell_others_move(0, true);
    EXPECT_TRUE(beside_others({}));
    EXPECT_TRUE(beside_others({.function = call_id::close}));
    EXPECT_FALSE(beside_others({.file = other_file}));
    EXPECT_FALSE(beside_others({.file = another_mounts_file})) << "nobody moves there but this process";
    page_.tell_others_move(0, false);
    EXPECT_FALSE(beside_others({}));
}

TEST_F(others_beside, count_where_they_come_or_go_during_a_call) {
    EXPECT_TRUE(beside_others({.meanwhile = [&] { page_.tell_others_move(0, true); }}));
    EXPECT_TRUE(beside_others({.meanwhile = [&] { page_.tell_others_move(0, false); }}));
    EXPECT_TRUE(beside_others({.meanwhile = [&] {
        page_.tell_others_move(0, true);
        page_.tell_others_move(0, false);
    }}));
    EXPECT_FALSE(beside_others({}));
}

TEST_F(others_beside, may_be_there_where_no_turn_was_given) {
    page_.publish(0, permission::unasked, 0, {});
    EXPECT_TRUE(beside_others({}));
}

}  // namespace
}  // namespace halcyon::tests
