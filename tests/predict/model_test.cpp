#include "predict/model/model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

#include "predict/score/replay.hpp"
#include "recorded_program.hpp"

namespace halcyon::predict {
namespace {

using policy::operation;
using tests::recorded_program;

struct trained {
    calls::memory_bound memory{SIZE_MAX};
    replay learnt;
    std::vector<call_score> scores;

    explicit trained(const recorded_program& program, const model::settings& settings = {}) : learnt(settings, memory) {
        for (const auto& one : program.calls()) scores.push_back(learnt.score(one.call, one.path));
    }
    model& knows() { return learnt.learnt(); }
    [[nodiscard]] double mean(size_t from, float (*of)(const call_score&)) const {
        double sum = 0;
        size_t count = 0;
        for (size_t i = from; i < scores.size(); ++i) {
            if (const float value = of(scores[i]); !std::isnan(value)) sum += value, ++count;
        }
        return count == 0 ? 0 : sum / static_cast<double>(count);
    }
};

float context(const call_score& s) {
    return s.context.even;
}
float offset(const call_score& s) {
    return s.offset.even;
}
float hit(const call_score& s) {
    return s.hit.even;
}
float file(const call_score& s) {
    return s.file;
}

std::string name(const char* before, int number) {
    std::array<char, 64> text;
    const int length = snprintf(text.data(), text.size(), "%s%06d.dat", before, number);
    return {text.data(), static_cast<size_t>(length)};
}

/// A file for each step: header, six blocks, the header again.
recorded_program file_per_step(int steps) {
    recorded_program program;
    for (int step = 0; step < steps; ++step) {
        program.computes(200'000'000);
        program.opens(1, name("/run/out.", step));
        program.writes(2, 0, 96);
        for (int block = 0; block < 6; ++block) program.writes(3, 2048 + block * 4096, 4096);
        program.writes(4, 0, 96);
        program.closes(5);
    }
    return program;
}

TEST(model, knows_all_after_the_second_step) {
    const trained one(file_per_step(30));
    const size_t two_steps = 20;
    EXPECT_EQ(one.mean(two_steps, context), 1);
    EXPECT_EQ(one.mean(two_steps, offset), 1);
    EXPECT_EQ(one.mean(two_steps, hit), 1);
    EXPECT_EQ(one.mean(two_steps, file), 1) << "the names of new files, too";
}

TEST(model, looks_ahead_into_the_next_step) {
    recorded_program program = file_per_step(30);
    program.computes(200'000'000);
    program.opens(1, name("/run/out.", 30));
    trained one(program);
    std::array<forecast, 14> ahead;
    ASSERT_EQ(one.knows().ahead(ahead), ahead.size());
    EXPECT_EQ(ahead[0].access.what.offset, 0);
    EXPECT_EQ(ahead[0].access.what.bytes, 96);
    for (int block = 0; block < 6; ++block) {
        EXPECT_EQ(ahead[1 + block].access.what.offset, 2048 + block * 4096);
        EXPECT_EQ(ahead[1 + block].access.what.bytes, 4096);
        EXPECT_EQ(ahead[1 + block].access.what.file, 31u);
        EXPECT_EQ(ahead[1 + block].access.begins_ns,
                  recorded_program::gap_ns + (1 + block) * (recorded_program::gap_ns + recorded_program::call_ns));
    }
    EXPECT_EQ(ahead[8].access.what.what, operation::close);
    const forecast& opens = ahead[9];
    EXPECT_EQ(opens.access.what.what, operation::open);
    ASSERT_TRUE(opens.access.new_file);
    std::array<char, file_names::longest_path> path;
    EXPECT_EQ(one.knows().names().next_path(opens.name_class, opens.new_files, path), name("/run/out.", 31));
    EXPECT_NEAR(static_cast<double>(opens.access.begins_ns), 200e6, 1e6);
    EXPECT_EQ(ahead[11].access.what.offset, 2048) << "in the file that is not there yet";
}

TEST(model, says_what_is_left_of_a_phase_and_when_the_next_begins) {
    recorded_program program = file_per_step(30);
    program.computes(200'000'000);
    program.opens(1, name("/run/out.", 30));
    program.writes(2, 0, 96);
    trained one(program);
    const policy::expected_phase rest = one.knows().phase();
    EXPECT_EQ(rest.calls_done, 2u);
    EXPECT_EQ(rest.calls_left, 8u);
    EXPECT_EQ(rest.bytes_left, 6 * 4096 + 96);
    EXPECT_EQ(rest.time_left_ns, 8 * (recorded_program::gap_ns + recorded_program::call_ns));
    EXPECT_GT(rest.confidence, 0.8);
    const policy::expected_period period = one.knows().period();
    const int64_t step_ns = 200'000'000 + 10 * (recorded_program::gap_ns + recorded_program::call_ns);
    EXPECT_NEAR(static_cast<double>(period.next_in_ns),
                static_cast<double>(step_ns - 2 * recorded_program::call_ns - recorded_program::gap_ns), 1000);
    EXPECT_EQ(period.confidence, 1);
}

TEST(model, lists_all_accesses_within_a_time) {
    recorded_program program = file_per_step(30);
    program.computes(200'000'000);
    program.opens(1, name("/run/out.", 30));
    trained one(program);
    std::array<forecast, 64> out;
    bool complete = false;
    EXPECT_EQ(one.knows().within(100'000'000, out, complete), 9u) << "up to the close";
    EXPECT_TRUE(complete);
    EXPECT_EQ(one.knows().within(100'000'000, std::span(out).first(4), complete), 4u);
    EXPECT_FALSE(complete);
}

/// A loop of the same call, with a pause after each tenth: one transition with two times.
TEST(model, tells_times_of_one_transition_apart) {
    recorded_program program;
    program.opens(1, "/run/log");
    for (int64_t i = 0; i < 1000; ++i) {
        if (i % 10 == 0) program.computes(300'000'000);
        program.writes(2, i * 100, 100);
    }
    const trained one(program);
    double off = 0;
    for (size_t i = 100; i < one.scores.size(); ++i)
        off += std::abs(one.scores[i].gap_expected_ns - one.scores[i].gap_observed_ns);
    EXPECT_LT(off / static_cast<double>(one.scores.size()), 100'000);
}

TEST(model, numbers_new_files_by_their_kind) {
    recorded_program same;
    for (int step = 0; step < 20; ++step) {
        for (const char* kind : {"/run/data.", "/run/grid."}) {
            same.opens(1, name(kind, step));
            same.closes(9);
        }
    }
    trained one(same);
    std::array<forecast, 8> ahead;
    ASSERT_EQ(one.knows().ahead(ahead), ahead.size());
    std::array<char, file_names::longest_path> path;
    for (int i = 0; i < 4; ++i) {
        const forecast& opens = ahead[size_t{2} * static_cast<size_t>(i)];
        ASSERT_TRUE(opens.access.new_file);
        EXPECT_EQ(one.knows().names().next_path(opens.name_class, opens.new_files, path),
                  name(i % 2 == 0 ? "/run/data." : "/run/grid.", 20 + i / 2));
    }
}

TEST(model, follows_files_that_take_turns) {
    recorded_program program;
    for (int i = 0; i < 3; ++i) program.opens(1, name("/run/part.", i));
    for (int step = 0; step < 40; ++step) {
        for (int i = 0; i < 3; ++i) {
            program.uses(name("/run/part.", i));
            program.writes(2, int64_t{512} * step, 512);
        }
    }
    const trained one(program);
    EXPECT_EQ(one.mean(20, file), 1);
    EXPECT_EQ(one.mean(20, offset), 1);
}

TEST(model, sizes_that_take_turns_are_a_local_grammar) {
    recorded_program program;
    program.opens(1, "/run/data");
    int64_t at = 0;
    for (int step = 0; step < 60; ++step) {
        for (const int64_t bytes : {100, 700, 700, 30}) program.writes(2, at, bytes), at += bytes;
    }
    const trained one(program);
    EXPECT_EQ(one.mean(30, hit), 1);
}

TEST(model, sizes_without_a_pattern_are_a_mean) {
    recorded_program program;
    std::mt19937_64 random(5);
    program.opens(1, "/run/data");
    int64_t at = 0;
    for (int step = 0; step < 500; ++step) {
        const auto bytes = static_cast<int64_t>(10'000 + random() % 200);
        program.writes(2, at, bytes);
        at += bytes;
    }
    trained one(program);
    EXPECT_GT(one.mean(50, hit), 0.985);
    EXPECT_EQ(one.knows().symbols()[one.knows().last_symbol()].sizes.distinct(), 0u) << "more than the cut-off";
}

TEST(model, offsets_may_be_counted_from_the_end_of_the_file) {
    recorded_program program;
    std::mt19937_64 random(6);
    program.opens(1, "/run/data");
    int64_t at = 512;
    for (int step = 0; step < 300; ++step) {
        const auto bytes = static_cast<int64_t>(1000 + random() % 900);
        program.writes(2, at, bytes);
        program.writes(3, 0, 512);
        at += bytes;
    }
    const trained one(program);
    EXPECT_EQ(one.mean(60, offset), 1);
}

/// As chunks of varying size, and what describes them behind the chunk before.
TEST(model, offsets_may_be_counted_from_the_end_of_the_access_before_the_last_one) {
    recorded_program program;
    std::mt19937_64 random(6);
    program.opens(1, "/run/data");
    int64_t at = 0;
    for (int step = 0; step < 300; ++step) {
        const auto bytes = static_cast<int64_t>(1000 + random() % 900);
        const auto far = static_cast<int64_t>(100'000 + random() % 9000);
        program.writes(2, at, bytes);
        program.writes(3, at + bytes + far, 64);
        program.writes(4, at + bytes, 16);
        at += bytes + 16;
    }
    const trained one(program);
    double right = 0;
    for (size_t i = 303; i < one.scores.size(); i += 3) right += one.scores[i].offset.even;
    EXPECT_EQ(right, 200) << "of the third write";
}

TEST(model, call_sites_that_would_do_the_same_make_it_more_probable) {
    recorded_program program;
    std::mt19937_64 random(7);
    program.opens(1, "/run/data");
    for (int i = 0; i < 4000; ++i) {
        const auto site = static_cast<uint32_t>(random() % 3 == 0 ? 3 + random() % 9 : 2);
        program.writes(site, i * int64_t{4096}, 4096);
    }
    trained one(program);
    double site = 0;
    double access = 0;
    for (size_t i = 1000; i < one.scores.size(); ++i) {
        site += one.scores[i].context.likely / 3000;
        access += one.scores[i].hit.likely / 3000;
    }
    EXPECT_NEAR(site, 0.5, 0.2);
    EXPECT_GT(access, 0.95) << "the others are too improbable to be told";
    EXPECT_LE(access, 1);
}

TEST(model, where_a_transfer_is_not_known_nothing_of_its_place_is_scored) {
    recorded_program program;
    program.opens(1, "/run/log");
    for (int i = 0; i < 20; ++i) program.writes(2, policy::not_known, 80);
    const trained one(program);
    for (size_t i = 1; i < one.scores.size(); ++i) {
        EXPECT_TRUE(std::isnan(one.scores[i].hit.even) && std::isnan(one.scores[i].hit.likely));
        for (const auto& naive : one.scores[i].naive) EXPECT_TRUE(std::isnan(naive.hit));
    }
    EXPECT_FALSE(std::isnan(one.scores[0].hit.even));
}

TEST(model, a_context_with_too_many_kinds_of_names_tells_none_apart) {
    recorded_program program;
    std::mt19937_64 random(7);
    for (int step = 0; step < 200; ++step) {
        std::string path = "/run/tmp.";
        for (int i = 0; i < 8; ++i) path += static_cast<char>('a' + random() % 26);
        program.opens(1, path);
        program.writes(2, 0, 64);
        program.closes(3);
    }
    trained one(program);
    EXPECT_EQ(one.mean(150, context), 1);
    EXPECT_EQ(one.mean(150, offset), 1);
    EXPECT_LE(one.knows().symbols().size(), 3u * (limits{}.file_classes + 1) + 1);
}

TEST(model, memory_stays_within_the_bound_whatever_comes) {
    recorded_program program;
    std::mt19937_64 random(8);
    program.opens(1, "/run/data");
    for (int step = 0; step < 200'000; ++step)
        program.writes(static_cast<uint32_t>(random()), static_cast<int64_t>(random() % 1'000'000'000),
                       1 + static_cast<int64_t>(random() % 1000));
    model::settings settings;
    settings.bound_bytes = 1 << 20;
    trained one(program, settings);
    EXPECT_LE(one.knows().bytes_peak(), settings.bound_bytes);
    EXPECT_GT(one.knows().unlearned(), 100'000u) << "and it is said";
}

/// Wherever its memory ends: in a table, in a grammar, or in what it looks ahead with.
TEST(model, can_be_asked_however_little_memory_it_has) {
    recorded_program program;
    for (int step = 0; step < 12; ++step) {
        program.computes(50'000'000);
        program.opens(1, name("/run/out.", step));
        int64_t at = 0;
        for (int block = 0; block < 14; ++block) {
            const int64_t bytes = block % 3 == 0 ? 100 + step % 2 : 5000 + block * 10;
            program.writes(2 + static_cast<uint32_t>(block % 5), at, bytes);
            at += bytes + block % 2 * 64;
        }
        program.closes(9);
    }
    for (size_t bytes = 2000; bytes < 150'000; bytes += 3700) {
        model::settings small;
        small.bound_bytes = bytes;
        calls::memory_bound memory(SIZE_MAX);
        replay learnt(small, memory);
        std::array<forecast, 64> out;
        for (const auto& one : program.calls()) {
            learnt.score(one.call, one.path);
            bool complete = false;
            EXPECT_LE(learnt.learnt().ahead(out), out.size());
            EXPECT_LE(learnt.learnt().within(1'000'000'000, out, complete), out.size());
            static_cast<void>(learnt.learnt().phase());
        }
        EXPECT_LE(learnt.learnt().bytes_peak(), bytes);
    }
}

TEST(model, time_that_halcyon_held_a_call_back_is_not_learnt) {
    recorded_program program = file_per_step(20);
    calls::memory_bound memory(SIZE_MAX);
    replay learnt({}, memory);
    int64_t held = 0;
    double off = 0;
    size_t count = 0;
    for (auto one : program.calls()) {
        if (count % 3 == 0) one.call.wait_ns = 7'000'000, held += one.call.wait_ns;
        one.call.start_ns += held;
        const call_score s = learnt.score(one.call, one.path);
        if (++count > 40) off = std::max(off, std::abs(s.gap_expected_ns - s.gap_observed_ns));
    }
    EXPECT_LT(off, 1000);
}

}  // namespace
}  // namespace halcyon::predict
