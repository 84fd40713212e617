// Forecasts of a process of several threads, at times that are made up.
#include "predict/layer/process_forecast.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <span>
#include <thread>
#include <vector>

namespace halcyon::tests {
namespace {

using namespace predict;
using policy::operation;

constexpr int64_t ms = 1'000'000;

/// Threads that do what tests say, at a time that only tests let pass.
class process {
  public:
    process() : memory(SIZE_MAX), files(memory) {}

    size_t add_thread() {
        threads.emplace_back(model::settings{}, files.names(), static_cast<uint32_t>(threads.size()));
        return threads.size() - 1;
    }
    void name(uint32_t file, const std::string& path) {
        files.name({file, path, 4096, 1});
        paths.keep(file, path);
    }
    void call(size_t thread, operation what, uint32_t file, int64_t start, int64_t offset = -1, int64_t bytes = -1) {
        observed_call made;
        made.context = static_cast<uint32_t>(what) + 1;
        made.what = {what, file, offset, bytes};
        made.start_ns = start;
        made.duration_ns = ms;
        threads[thread].learn(made);
    }
    /// The same of a process that writes four times in each phase, the pauses before them being these.
    void phases(std::span<const int64_t> pauses, const auto& asked_at_end) {
        for (size_t i = 0; i < pauses.size(); ++i) {
            now += pauses[i];
            burst(0, 1, now, 4, 1000);
            now += 7 * ms;
            if (i + 1 < pauses.size()) asked_at_end(i + 1, pauses[i + 1]);
        }
    }
    /// A burst: `count` writes of `bytes`, 2 ms from one to the next; the file is there already.
    void burst(size_t thread, uint32_t file, int64_t start, int count, int64_t bytes) {
        for (int64_t i = 0; i < count; ++i) call(thread, operation::write, file, start + i * 2 * ms, i * bytes, bytes);
    }
    io_forecast::answer ask(uint64_t most, int64_t now, int64_t window = io_forecast::not_known) {
        accesses.assign(most, {});
        process_forecast whole(10 * ms);
        EXPECT_TRUE(whole.begin({most, window}, now));
        for (thread_model& one : threads) whole.add(one);
        io_forecast::answer found{};
        whole.finish(files, paths, accesses.data(), found);
        accesses.resize(found.count);
        return found;
    }

    int64_t now = 0;
    calls::memory_bound memory;
    file_book files;
    calls::file_paths paths;
    std::deque<thread_model> threads;
    std::vector<io_forecast::access> accesses;
};

/// Ten bursts of four writes, one each 100 ms; the last one ends at 907 ms.
struct bursts : process {
    bursts() {
        add_thread();
        name(1, "/a");
        for (int64_t i = 0; i < 10; ++i) burst(0, 1, i * 100 * ms, 4, 1000);
    }
};

TEST(process_forecast_test, times_count_from_the_moment_of_the_forecast) {
    bursts made;
    const auto found = made.ask(2, 950 * ms);
    ASSERT_EQ(found.count, 2U);
    EXPECT_EQ(found.complete, 1U);
    EXPECT_EQ(made.accesses[0].begins_ns, 50 * ms);
    EXPECT_EQ(made.accesses[1].begins_ns, 52 * ms);
    EXPECT_EQ(made.accesses[0].duration_ns, ms);
    EXPECT_STREQ(made.accesses[0].path, "/a");
    EXPECT_EQ(found.calls_left, 0U);
    EXPECT_EQ(found.next_phase_ns, 50 * ms);
    EXPECT_EQ(found.rest_buffer_bytes, 0);
    EXPECT_EQ(found.phase_buffer_bytes, 4000);
    EXPECT_EQ(found.flush_in_ns, 57 * ms);
    EXPECT_EQ(found.flush_for_ns, 93 * ms);
}

coming_io::forecast& phases_of(process& of, int64_t now) {
    static coming_io::forecast found;
    found = {};
    process_forecast whole(10 * ms);
    EXPECT_TRUE(whole.begin_of_phases(now));
    for (thread_model& one : of.threads) whole.add(one);
    whole.finish(found);
    return found;
}

TEST(process_forecast_test, of_phases_has_this_one_and_the_next_one_by_ids_of_files) {
    bursts made;
    const coming_io::forecast& found = phases_of(made, 950 * ms);
    ASSERT_GE(found.count, 8U);
    for (size_t i = 0; i < 8; ++i) {
        const coming_io::access& one = found.accesses[i];
        EXPECT_EQ(one.file, 1U);
        EXPECT_EQ(one.bytes, 1000);
        EXPECT_EQ(one.duration_ns, ms);
        EXPECT_EQ(one.begins_ns, static_cast<int64_t>(50 + i / 4 * 100 + i % 4 * 2) * ms);
        EXPECT_TRUE(one.moves);
    }
    EXPECT_EQ(found.whole.next_phase_ns, 50 * ms);
}

TEST(process_forecast_test, of_phases_puts_new_files_where_the_last_ones_of_their_kind_are) {
    process made;
    made.add_thread();
    for (uint32_t i = 0; i < 12; ++i) {
        const int64_t start = i * 100 * ms;
        made.name(i + 1, "/scratch/out." + std::to_string(100 + i));
        made.call(0, operation::open, i + 1, start);
        made.call(0, operation::write, i + 1, start + 2 * ms, 0, 1000);
        made.call(0, operation::close, i + 1, start + 4 * ms);
    }
    const coming_io::forecast& found = phases_of(made, 1150 * ms);
    ASSERT_GE(found.count, 3U);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(found.accesses[i].file, 12U) << i;
    EXPECT_FALSE(found.accesses[0].moves);
    EXPECT_TRUE(found.accesses[1].moves);
}

TEST(process_forecast_test, times_beside_others_are_none_of_a_time_alone) {
    process made;
    made.add_thread();
    made.name(1, "/a");
    const auto write = [&](int64_t i, int64_t duration, bool beside) {
        observed_call one;
        one.context = 1;
        one.what = {operation::write, 1, 0, 1000};
        one.start_ns = i * 100 * ms;
        one.duration_ns = duration;
        one.beside_others = beside;
        made.threads[0].learn(one);
    };
    for (int64_t i = 0; i < 10; ++i) write(i, 9 * ms, true);
    EXPECT_EQ(phases_of(made, 1000 * ms).accesses[0].duration_ns, 9 * ms) << "better than nothing";
    for (int64_t i = 10; i < 20; ++i) write(i, 3 * ms, false);
    EXPECT_EQ(phases_of(made, 2000 * ms).accesses[0].duration_ns, 3 * ms);
    for (int64_t i = 20; i < 60; ++i) write(i, 9 * ms, true);
    EXPECT_EQ(phases_of(made, 6000 * ms).accesses[0].duration_ns, 3 * ms);
    ASSERT_GE(phases_of(made, 6000 * ms).count, 2U) << "that they come is learnt";
    EXPECT_EQ(made.threads[0].hold()->bursts().durations().next(), 3 * ms);
    made.threads[0].release();
}

/// Of one thread with one file.
struct pausing_process : process {
    pausing_process() {
        add_thread();
        name(1, "/a");
    }
};

TEST(process_forecast_test, the_next_phase_begins_when_the_first_access_of_it_does) {
    pausing_process made;
    std::vector<int64_t> pauses;
    for (int i = 0; i < 160; ++i) pauses.push_back(i % 4 == 3 ? 1200 * ms : 300 * ms);
    made.phases(pauses, [&](size_t i, int64_t pause) {
        if (i < 120) return;
        const auto found = made.ask(1, made.now);
        EXPECT_EQ(found.next_phase_ns, pause) << i;
        EXPECT_EQ(found.next_phase_ns, made.accesses[0].begins_ns) << i;
        EXPECT_EQ(found.next_phase_earliest_ns, pause) << i;
        EXPECT_EQ(found.next_phase_latest_ns, pause) << i;
    });
}

TEST(process_forecast_test, the_deviation_forgets_what_is_long_ago) {
    pausing_process made;
    std::vector<int64_t> pauses(60, 1000 * ms);
    pauses.insert(pauses.end(), 60, 400 * ms);
    int64_t most = 0;
    made.phases(pauses, [&](size_t i, int64_t) {
        const int64_t deviation = made.ask(0, made.now).next_phase_deviation_ns;
        most = std::max(most, deviation);
        if (i > 100) {
            EXPECT_LT(deviation, ms) << i;
        }
    });
    EXPECT_GT(most, 100 * ms) << "when it changed";
}

TEST(process_forecast_test, bounds_are_of_what_is_still_possible) {
    pausing_process made;
    std::vector<int64_t> pauses;
    for (int i = 0; i < 60; ++i) pauses.push_back((i * 7 % 10 + 95) * 10 * ms);
    made.phases(pauses, [](size_t, int64_t) {});
    const auto at_end = made.ask(0, made.now);
    EXPECT_GE(at_end.next_phase_earliest_ns, 900 * ms);
    EXPECT_LE(at_end.next_phase_latest_ns, 1090 * ms);
    const auto later = made.ask(0, made.now + 1000 * ms);
    EXPECT_GE(later.next_phase_earliest_ns, 0);
    EXPECT_LE(later.next_phase_earliest_ns, later.next_phase_ns);
    EXPECT_LE(later.next_phase_ns, later.next_phase_latest_ns);
    EXPECT_LE(later.next_phase_latest_ns, 90 * ms);
    const auto beyond = made.ask(0, made.now + 1500 * ms);
    EXPECT_EQ(beyond.next_phase_ns, 0);
    EXPECT_EQ(beyond.next_phase_latest_ns, io_forecast::not_known) << "no forecast was off by so much";
}

TEST(process_forecast_test, nothing_is_said_of_bounds_before_a_forecast_came_true_or_not) {
    pausing_process made;
    const std::vector<int64_t> pauses(6, 500 * ms);
    made.phases(pauses, [&](size_t i, int64_t) {
        const bool known = made.ask(0, made.now).next_phase_latest_ns != io_forecast::not_known;
        EXPECT_EQ(known, i > 2) << i;
    });
}

TEST(process_forecast_test, what_is_left_of_a_phase_is_told_in_its_middle) {
    bursts made;
    made.burst(0, 1, 1000 * ms, 2, 1000);  // ends at 1003 ms
    const auto found = made.ask(3, 1003 * ms);
    EXPECT_EQ(found.calls_done, 2U);
    EXPECT_EQ(found.calls_left, 2U);
    EXPECT_EQ(found.bytes_left, 2000);
    EXPECT_EQ(found.time_left_ns, 4 * ms);
    EXPECT_GT(found.phase_confidence, 0.5);
    EXPECT_EQ(found.rest_buffer_bytes, 2000);
    EXPECT_EQ(found.phase_buffer_bytes, 4000);
    EXPECT_EQ(found.next_phase_ns, 97 * ms);
    EXPECT_EQ(found.flush_in_ns, 4 * ms);
    ASSERT_EQ(found.count, 3U);
    EXPECT_EQ(made.accesses[0].offset, 2000);
    EXPECT_EQ(made.accesses[2].begins_ns, 97 * ms);
}

TEST(process_forecast_test, an_access_that_is_late_is_expected_now_and_those_behind_it_later) {
    bursts made;
    const auto found = made.ask(2, 1050 * ms);
    ASSERT_EQ(found.count, 2U);
    EXPECT_EQ(found.late, 0U);
    EXPECT_EQ(made.accesses[0].begins_ns, 0);
    EXPECT_EQ(made.accesses[1].begins_ns, 2 * ms);
}

TEST(process_forecast_test, a_thread_that_is_late_for_too_long_is_left_out_and_counted) {
    bursts made;
    const auto found = made.ask(2, 5000 * ms);
    EXPECT_EQ(found.count, 0U);
    EXPECT_EQ(found.late, 1U);
    EXPECT_EQ(found.threads, 0U);
    EXPECT_EQ(found.complete, 0U);
    EXPECT_EQ(found.phase_confidence, 0);
    EXPECT_EQ(found.flush_for_ns, io_forecast::not_known);
}

TEST(process_forecast_test, a_window_holds_what_begins_within_it) {
    bursts made;
    auto found = made.ask(100, 950 * ms, 60 * ms);
    EXPECT_EQ(found.count, 4U);
    EXPECT_EQ(found.complete, 1U);
    found = made.ask(3, 950 * ms, 60 * ms);
    EXPECT_EQ(found.count, 3U);
    EXPECT_EQ(found.complete, 0U);
    found = made.ask(3, 950 * ms, 10 * ms);
    EXPECT_EQ(found.count, 0U);
    EXPECT_EQ(found.complete, 1U);
}

/// Two threads that write in bursts, the second 40 ms behind the first.
struct two_threads : bursts {
    two_threads() {
        add_thread();
        name(2, "/b");
        for (int i = 0; i < 10; ++i) burst(1, 2, (i * 100 + 40) * ms, 6, 500);
    }
};

TEST(process_forecast_test, threads_are_merged_by_their_begins) {
    two_threads made;
    const auto found = made.ask(200, 960 * ms);
    ASSERT_EQ(found.count, 200U);
    EXPECT_EQ(found.threads, 2U);
    EXPECT_EQ(made.accesses[0].begins_ns, 40 * ms);
    EXPECT_EQ(made.accesses[4].begins_ns, 80 * ms);
    int of_second = 0;
    for (size_t i = 0; i < 200; ++i) {
        EXPECT_GE(made.accesses[i].begins_ns, made.accesses[i == 0 ? 0 : i - 1].begins_ns) << i;
        EXPECT_EQ(made.accesses[i].bytes, made.accesses[i].thread == 0 ? 1000 : 500);
        EXPECT_STREQ(made.accesses[i].path, made.accesses[i].thread == 0 ? "/a" : "/b");
        if (made.accesses[i].thread == 1) ++of_second;
    }
    EXPECT_EQ(of_second, 120);
}

TEST(process_forecast_test, phases_of_threads_add_up_and_a_flush_is_when_all_of_them_pause) {
    two_threads made;
    const auto found = made.ask(10, 960 * ms);
    EXPECT_EQ(found.phase_buffer_bytes, 7000);
    EXPECT_EQ(found.next_phase_ns, 40 * ms);
    EXPECT_EQ(found.flush_in_ns, 91 * ms);  // from the end of the second's burst to the first's next one
    EXPECT_EQ(found.flush_for_ns, 49 * ms);
}

TEST(process_forecast_test, new_files_of_one_kind_are_numbered_over_all_threads) {
    process made;
    made.add_thread();
    made.add_thread();
    for (uint32_t i = 0; i < 20; ++i) {
        const size_t thread = i % 2;
        const int64_t start = int64_t{i} * 50 * ms;
        made.name(i + 1, "/out." + std::to_string(i));
        made.call(thread, operation::open, i + 1, start);
        made.call(thread, operation::write, i + 1, start + 2 * ms, 0, 100);
        made.call(thread, operation::close, i + 1, start + 4 * ms);
    }
    const auto found = made.ask(9, 980 * ms);
    ASSERT_EQ(found.count, 9U);
    for (size_t i = 0; i < 9; ++i) {
        EXPECT_EQ(made.accesses[i].path, "/out." + std::to_string(20 + i / 3)) << i;
        EXPECT_EQ(made.accesses[i].new_file, i % 3 == 0 ? 1U : 0U);
        EXPECT_EQ(made.accesses[i].thread, i / 3 % 2);
    }
}

TEST(process_forecast_test, calls_that_come_while_a_model_is_asked_are_learnt_then_or_counted) {
    process made;
    made.add_thread();
    made.name(1, "/a");
    thread_model& own = made.threads[0];
    const model* learnt = own.hold();
    ASSERT_NE(learnt, nullptr);
    for (int64_t i = 0; i < 300; ++i) made.call(0, operation::write, 1, i * 2 * ms, i * 10, 10);
    EXPECT_EQ(learnt->calls(), 0U);
    own.release();
    EXPECT_EQ(learnt->calls(), 256U);
    EXPECT_EQ(own.missed(), 44U);
    made.call(0, operation::write, 1, 600 * ms, 2560, 10);
    EXPECT_EQ(learnt->calls(), 257U);
}

// Under the thread sanitizer, too: who holds a model and who puts calls aside for it.
TEST(process_forecast_test, threads_learn_while_another_asks_and_nothing_is_lost) {
    process made;
    constexpr int calls = 20'000;
    constexpr int learning = 4;
    for (uint32_t i = 0; i < learning; ++i) {
        made.add_thread();
        made.name(i + 1, "/file." + std::to_string(i));
    }
    std::atomic<int> busy{learning};
    std::vector<std::thread> running;
    for (uint32_t t = 0; t < learning; ++t) {
        running.emplace_back([&, t] {
            for (int64_t i = 0; i < calls; ++i) made.call(t, operation::write, t + 1, i * 2 * ms, i % 8 * 100, 100);
            --busy;
        });
    }
    while (busy.load() > 0) made.ask(50, 0);
    for (std::thread& one : running) one.join();
    for (thread_model& one : made.threads) {
        const model* const learnt = one.hold();
        ASSERT_NE(learnt, nullptr);
        EXPECT_EQ(learnt->calls() + one.missed(), calls);
        one.release();
    }
}

}  // namespace
}  // namespace halcyon::tests
