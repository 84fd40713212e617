#include "predict/model/model_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "predict/grammar/file_check.hpp"
#include "predict/model/archive.hpp"
#include "predict/score/replay.hpp"
#include "recorded_program.hpp"

namespace halcyon::predict {
namespace {

using tests::recorded_program;

/// Sizes, offsets and times of all kinds that tables know.
recorded_program varied_program(int steps) {
    recorded_program program;
    std::mt19937_64 random(11);
    for (int step = 0; step < steps; ++step) {
        program.computes(step % 4 == 0 ? 900'000'000 : 100'000'000);
        std::array<char, 64> path;
        snprintf(path.data(), path.size(), "/first/run/out.%06d.dat", step);
        program.opens(1, path.data(), true);
        program.writes(2, 0, 96);
        int64_t at = 2048;
        for (const int64_t bytes : {100, 700, 700, 30, 4096}) program.writes(3, at, bytes), at += bytes;
        for (int i = 0; i < 5; ++i) {
            const auto bytes = static_cast<int64_t>(5000 + random() % 300);
            program.writes(4, at, bytes);
            at += bytes + 64;
        }
        program.writes(2, 0, 96);
        program.closes(5);
    }
    return program;
}

struct learnt_models {
    calls::memory_bound memory{SIZE_MAX};
    label_table labels{memory};
    replay first{{}, memory};
    replay second{{}, memory};

    learnt_models() {
        const recorded_program varied = varied_program(40);
        for (const auto& one : varied.calls()) first.score(one.call, one.path);
        labels.name(label_table::subject::function, 7, "pwrite");
        labels.name(label_table::subject::context, 2, "out.c:12 main");
    }
    [[nodiscard]] std::vector<unsigned char> saved() {
        const std::array<const model*, 1> models{&first.learnt()};
        const process_models of{first.names(), labels, models};
        std::vector<unsigned char> bytes(saved_bytes(of));
        EXPECT_TRUE(save(of, bytes));
        return bytes;
    }
};

struct loaded {
    calls::memory_bound memory{SIZE_MAX};
    file_names names{memory};
    label_table labels{memory};
    std::unique_ptr<model> knows;
    std::optional<failure> wrong;

    explicit loaded(std::span<const unsigned char> bytes, const model::settings& settings = {})
        : knows(std::make_unique<model>(settings, names)) {
        model_file file;
        wrong = model_file::open(bytes, "old.model", file);
        if (wrong) return;
        EXPECT_EQ(file.models(), 1u);
        const std::array<model*, 1> into{knows.get()};
        wrong = file.load(names, labels, into);
    }
};

void resum(std::vector<unsigned char>& bytes);

TEST(model_file, a_second_run_knows_what_the_first_one_learnt) {
    learnt_models learnt;
    loaded again(learnt.saved());
    ASSERT_FALSE(again.wrong) << again.wrong->message;
    EXPECT_EQ(again.labels.of(label_table::subject::function, 7), "pwrite");
    EXPECT_EQ(again.labels.of(label_table::subject::context, 2), "out.c:12 main");
    EXPECT_EQ(again.knows->symbols().size(), learnt.first.learnt().symbols().size());
    EXPECT_EQ(again.knows->transitions().size(), learnt.first.learnt().transitions().size());

    // The program once more, in another folder: the first step is known already.
    recorded_program program = varied_program(3);
    size_t right = 0;
    size_t asked = 0;
    std::array<forecast, 16> out;
    uint32_t named = 0;
    for (const auto& one : program.calls()) {
        const size_t count = again.knows->next(out);
        if (one.call.what.file != named) again.names.name(named = one.call.what.file, "/second/" + one.path.substr(11));
        again.knows->append(one.call);
        ++asked;
        if (count > 0 && out[0].symbol == again.knows->last_symbol()) ++right;
        if (one.call.context == 3 && count > 0) {
            EXPECT_EQ(out[0].access.what.bytes, one.call.what.bytes);
            EXPECT_EQ(out[0].access.what.offset, one.call.what.offset);
        }
    }
    EXPECT_EQ(right, asked) << "of the first step, too";
    EXPECT_EQ(again.knows->symbols().size(), learnt.first.learnt().symbols().size()) << "the same call sites";
}

TEST(model_file, what_is_saved_again_is_the_same) {
    learnt_models learnt;
    const auto bytes = learnt.saved();
    loaded again(bytes);
    ASSERT_FALSE(again.wrong) << again.wrong->message;
    const std::array<const model*, 1> models{again.knows.get()};
    const process_models of{again.names, again.labels, models};
    std::vector<unsigned char> twice(saved_bytes(of));
    ASSERT_TRUE(save(of, twice));
    loaded third(twice);
    ASSERT_FALSE(third.wrong);
    EXPECT_EQ(third.knows->main().model().length(), learnt.first.learnt().main().model().length());
}

TEST(model_file, other_files_and_versions_are_refused_with_their_place) {
    learnt_models learnt;
    const auto bytes = learnt.saved();
    for (size_t length = 0; length < bytes.size(); length += length < 64 ? 1 : 997) {
        const loaded cut(std::span<const unsigned char>(bytes.data(), length));
        ASSERT_TRUE(cut.wrong) << length;
        EXPECT_EQ(cut.wrong->kind, error_kind::config);
        EXPECT_NE(cut.wrong->message.find("old.model: at byte"), std::string::npos) << cut.wrong->message;
    }
    auto newer = bytes;
    ++newer[8];
    EXPECT_NE(loaded(newer).wrong->message.find("version " + std::to_string(model_file_version + 1)),
              std::string::npos);
    auto swapped = bytes;  // written by a big-endian machine that did not convert
    std::swap(swapped[8], swapped[11]);
    EXPECT_TRUE(loaded(swapped).wrong);
    auto flipped = bytes;
    flipped[bytes.size() / 2] ^= 4;
    auto longer = bytes;
    longer.insert(longer.end(), 8, 0);
    longer[16] = static_cast<unsigned char>(longer.size());
    longer[17] = static_cast<unsigned char>(longer.size() >> 8);
    longer[18] = static_cast<unsigned char>(longer.size() >> 16);
    resum(longer);
    EXPECT_NE(loaded(longer).wrong->message.find("belong to no model"), std::string::npos);
    EXPECT_NE(loaded(flipped).wrong->message.find("check sum"), std::string::npos);
}

TEST(model_file, contents_that_make_no_sense_are_refused_or_harmless) {
    learnt_models learnt;
    const auto bytes = learnt.saved();
    std::mt19937_64 random(3);
    const recorded_program more = varied_program(2);
    size_t refused = 0;
    for (int round = 0; round < 1000; ++round) {
        auto damaged = bytes;
        for (int i = 0; i < 1 + round % 4; ++i) {
            const size_t at = 32 + random() % (bytes.size() - 32);
            damaged[at] = round % 3 == 0 ? 0xFF : static_cast<unsigned char>(random());
        }
        resum(damaged);
        loaded strange(damaged);
        if (strange.wrong) {
            ++refused;
            continue;
        }
        // Whatever it says, it can be asked and goes on learning.
        std::array<forecast, 64> out;
        bool complete = false;
        strange.knows->next(out);
        for (const auto& one : more.calls()) {
            strange.knows->append(one.call);
            strange.knows->ahead(out);
            strange.knows->within(1'000'000'000, out, complete);
            static_cast<void>(strange.knows->phase());
        }
    }
    EXPECT_GT(refused, 100u);
}

/// What is wrong with these fields, if they were those of a table.
template <class Table>
std::string refusal(const std::vector<unsigned char>& fields) {
    calls::memory_bound memory(SIZE_MAX);
    archive_reader archive(fields);
    archive.use(memory);
    Table table;
    if constexpr (std::is_same_v<Table, local_sequence>)
        local_sequence::each_field(table, archive, 64);
    else
        Table::each_field(table, archive);
    return archive.good() ? "" : archive.what();
}

template <class... Numbers>
std::vector<unsigned char> fields(Numbers... numbers) {
    std::vector<unsigned char> bytes(4096);
    archive_writer archive(bytes);
    (archive.number(numbers), ...);
    bytes.resize(archive.written());
    return bytes;
}

TEST(model_file, a_beginning_longer_than_any_that_is_kept_is_refused) {
    EXPECT_EQ(refusal<local_sequence>(fields(uint32_t{3}, uint32_t{64}, 0.5f, false)), "");
    EXPECT_NE(refusal<local_sequence>(fields(uint32_t{3}, uint32_t{65}, 0.5f, false)), "")
        << "the first other number would have it learnt one by one";
}

TEST(model_file, times_that_no_calls_can_have_are_refused) {
    const auto times = [](uint64_t count, double squares) {
        return refusal<time_estimate>(fields(count, int64_t{1}, int64_t{2}, 1.5, squares, 1.5, 0.0, 0.f, 0.f, 0.f, 0.f,
                                             int64_t{1}, int64_t{1}, int64_t{1}, int64_t{1}, int64_t{1}));
    };
    EXPECT_EQ(times(2, 1.0), "");
    EXPECT_NE(times(2, -1.0), "") << "the square root of it is none";
    EXPECT_NE(times(UINT64_MAX, 1.0), "") << "the next one would be number 0, by which the mean is divided";
}

TEST(model_file, sizes_that_no_calls_can_have_are_refused) {
    const auto sizes = [](uint64_t count, int64_t least) {
        return refusal<size_table>(
            fields(count, least, int64_t{9}, int64_t{9}, 9.0, 9.0, 0.f, 0.f, 0.f, 0.f, 0.f, false, 0.f, uint32_t{0}));
    };
    EXPECT_EQ(sizes(2, 9), "");
    EXPECT_NE(sizes(2, -9), "");
    EXPECT_NE(sizes(UINT64_MAX, 9), "");
}

TEST(model_file, a_model_larger_than_the_bound_says_so) {
    learnt_models learnt;
    // What each call site does may be forgotten; the call sites may not.
    for (const size_t kib : {8, 12, 16}) {
        model::settings small;
        small.bound_bytes = kib << 10;
        const loaded cramped(learnt.saved(), small);
        ASSERT_TRUE(cramped.wrong) << kib;
        EXPECT_NE(cramped.wrong->message.find("bound of memory"), std::string::npos) << cramped.wrong->message;
    }
}

/// As a program that imports hundreds of modules: more call sites than there is memory for what each of them does.
TEST(model_file, a_model_whose_tables_are_full_is_saved_and_loaded_again) {
    for (size_t kib = 96; kib <= 640; kib += 32) {
        model::settings small;
        small.bound_bytes = kib << 10;
        recorded_program program;
        std::mt19937_64 random(kib);
        program.opens(1, "/run/data");
        for (int i = 0; i < 6000; ++i)
            program.writes(static_cast<uint32_t>(2 + random() % 500), static_cast<int64_t>(random() % 10'000'000),
                           static_cast<int64_t>(1 + random() % 9000));
        calls::memory_bound memory(SIZE_MAX);
        replay first(small, memory);
        for (const auto& one : program.calls()) first.score(one.call, one.path);
        label_table labels(memory);
        const std::array<const model*, 1> models{&first.learnt()};
        const process_models of{first.names(), labels, models};
        std::vector<unsigned char> bytes(saved_bytes(of));
        ASSERT_TRUE(save(of, bytes)) << kib;
        const loaded again(bytes, small);
        ASSERT_FALSE(again.wrong) << kib << ": " << again.wrong->message;
        // It goes on learning, and can be asked.
        std::array<forecast, 64> out;
        for (size_t i = 0; i < 600; ++i) {
            again.knows->append(program.calls()[i].call);
            EXPECT_LE(again.knows->ahead(out), out.size());
        }
    }
}

/// Sizes in an order without rules fill the grammar of their sequence.
recorded_program unruly_program(uint64_t distinct_sizes, int calls, uint64_t seed = 0) {
    recorded_program program;
    std::mt19937_64 random(distinct_sizes + seed);
    program.opens(1, "/run/out.dat");
    for (int i = 0; i < calls; ++i) program.writes(2, 0, 100 * static_cast<int64_t>(random() % distinct_sizes));
    return program;
}

std::vector<unsigned char> saved(const file_names& names, const model& of) {
    calls::memory_bound memory(SIZE_MAX);
    const label_table labels(memory);
    const std::array<const model*, 1> models{&of};
    const process_models all{names, labels, models};
    std::vector<unsigned char> bytes(saved_bytes(all));
    EXPECT_TRUE(save(all, bytes));
    return bytes;
}

TEST(model_file, sizes_that_fill_the_memory_of_their_grammar_are_loaded_again) {
    for (const uint64_t distinct : {2, 3, 5, 8, 13, 20}) {
        for (int calls = 50; calls < 3000; calls += calls / 4) {
            const recorded_program program = unruly_program(distinct, calls);
            calls::memory_bound memory(SIZE_MAX);
            replay learns({}, memory);
            for (const auto& one : program.calls()) learns.score(one.call, one.path);
            const loaded again(saved(learns.names(), learns.learnt()));
            EXPECT_FALSE(again.wrong) << calls << " calls, " << distinct << " sizes: " << again.wrong->message;
        }
    }
}

TEST(model_file, a_model_that_learnt_on_in_many_runs_is_loaded_again) {
    for (const uint64_t distinct : {2, 3, 5, 8, 13, 20}) {
        calls::memory_bound memory(SIZE_MAX);
        replay first({}, memory);
        const recorded_program program = unruly_program(distinct, 100);
        for (const auto& one : program.calls()) first.score(one.call, one.path);
        std::vector<unsigned char> bytes = saved(first.names(), first.learnt());
        for (int calls = 100; calls < 3000; calls += calls / 3) {
            const loaded again(bytes);
            ASSERT_FALSE(again.wrong) << calls << " calls, " << distinct << " sizes: " << again.wrong->message;
            const recorded_program program_of_run = unruly_program(distinct, calls, static_cast<uint64_t>(calls));
            for (const auto& one : program_of_run.calls()) again.knows->append(one.call);
            bytes = saved(again.names, *again.knows);
        }
    }
}

/// The check sum of a file is made right again.
void resum(std::vector<unsigned char>& bytes) {
    const std::span<const unsigned char> summed = std::span(bytes).subspan(32);
    const uint64_t sum = check_sum(summed, mixed(summed.size()));
    for (size_t i = 0; i < 8; ++i) bytes[24 + i] = static_cast<unsigned char>(sum >> 8 * i);
}

}  // namespace
}  // namespace halcyon::predict
