// The layer `predict` in real processes (programs/forecasting.c): what it learns, what it forecasts, what it counts.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <sstream>

#include "predict/predicted_run.hpp"

namespace halcyon::tests {
namespace {

predicted_run run_in(const temporary_folder& files, const std::string& mode, const std::string& environment,
                     const std::string& layers = "predict") {
    const size_t space = mode.find(' ');
    const std::string rest = space == std::string::npos ? "" : mode.substr(space);
    predicted_run found = run_predicted(
        HALCYON_TEST_PROGRAM " " + mode.substr(0, space) + " " + files.path().string() + rest, environment, layers);
    EXPECT_EQ(found.status, 0) << found.output;
    return found;
}

/// In a folder of its own.
predicted_run run(const std::string& mode, const std::string& environment = never_late,
                  const std::string& layers = "predict") {
    return run_in(temporary_folder(), mode, environment, layers);
}

long number(const std::map<std::string, std::string>& facts, const std::string& key) {
    return std::stol(facts.at(key));
}

std::string little_endian(uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xFF);
    return text;
}

constexpr const char* step_10 =
    "open out.0010 new -1 -1\n"
    "write out.0010 0 4096\n"
    "write out.0010 4096 4096\n"
    "write out.0010 8192 4096\n"
    "close out.0010 -1 -1\n"
    "write run1.log 1000 100\n"
    "sync run1.log -1 -1\n";

TEST(layer_test, a_loop_goes_on_with_new_files_and_old_ones) {
    const predicted_run found = run("loop");
    std::string step_11 = step_10;
    for (size_t at = 0; (at = step_11.find("0010", at)) != std::string::npos;) step_11.replace(at, 4, "0011");
    step_11.replace(step_11.find("log 1000"), 8, "log 1100");
    EXPECT_EQ(found.output, step_10 + step_11 + "complete 1 threads 1 left out 0\n");
    EXPECT_EQ(number(found.ended("exit"), "calls_learnt"), 10 * 7 + 2);
    EXPECT_EQ(found.ended("exit").at("threads"), "1");
}

TEST(layer_test, programs_of_all_languages_are_told_the_same) {
    for (const char* command : {HALCYON_TEST_LANGUAGES}) {
        const temporary_folder files;
        const predicted_run found = run_predicted(std::string(command) + " " + files.path().string());
        EXPECT_EQ(found.status, 0) << command;
        std::string expected;
        for (const std::string number : {"10", "11"}) {
            expected += "open out.00" + number + " new -1 -1\n";
            for (const int offset : {0, 4096, 8192})
                expected += "write out.00" + number + " " + std::to_string(offset) + " 4096\n";
            expected += "close out.00" + number + " -1 -1\n";
        }
        EXPECT_EQ(found.output, expected + "within 7\n") << command;
    }
}

TEST(layer_test, each_kind_of_file_is_counted_on_by_itself_and_failures_count_nothing) {
    const predicted_run found = run("two-kinds");
    EXPECT_EQ(found.output,
              "open a.10 new -1 -1\nclose a.10 -1 -1\nopen b.100 new -1 -1\nclose b.100 -1 -1\n"
              "open a.11 new -1 -1\nclose a.11 -1 -1\nopen b.110 new -1 -1\nclose b.110 -1 -1\n");
    EXPECT_EQ(number(found.ended("exit"), "calls_learnt"), 10 * 4);
}

TEST(layer_test, streams_are_learnt_by_what_they_move) {
    const predicted_run found = run("streams");
    EXPECT_EQ(found.output, "open s.10 new -1 -1\nwrite s.10 0 300\nclose s.10 -1 -1\n");
}

TEST(layer_test, threads_are_forecast_in_one_order_each_with_its_own) {
    const predicted_run found = run("threads");
    EXPECT_EQ(found.output, "threads 8 count 88 ordered 1 own files 1\nseveral of them 1\n");
    EXPECT_EQ(number(found.ended("exit"), "calls_learnt"), 8 * (6 * 11 + 2));
    EXPECT_EQ(number(found.ended("exit"), "threads"), 8);
}

TEST(layer_test, nothing_is_missed_while_others_ask) {
    const predicted_run found = run("asked-meanwhile");
    EXPECT_EQ(found.output, "asked 1\n");
    const auto& facts = found.ended("exit");
    EXPECT_EQ(number(facts, "calls_learnt") + number(facts, "calls_missed"), 8 * 20002);
    EXPECT_EQ(number(facts, "calls_without_room"), 0);
}

TEST(layer_test, a_forked_child_begins_anew) {
    const predicted_run found = run("fork");
    EXPECT_EQ(found.output,
              "child knows 0 of 0 threads\nwrite child1.log 500 50\nwrite child1.log 550 50\n"
              "open out.0010 new -1 -1\nwrite out.0010 0 4096\n");
    ASSERT_EQ(found.processes.size(), 2U);
    EXPECT_EQ(number(found.processes[0], "calls_learnt") + number(found.processes[1], "calls_learnt"), 71 + 11);
}

TEST(layer_test, another_program_begins_anew) {
    const predicted_run found = run("exec");
    EXPECT_TRUE(found.output.starts_with(step_10)) << found.output;
    EXPECT_EQ(number(found.ended("exec"), "calls_learnt"), 2);
    EXPECT_EQ(number(found.ended("exit"), "calls_learnt"), 72);
}

TEST(layer_test, calls_of_handlers_that_interrupt_learning_are_counted_and_harm_nothing) {
    const predicted_run found = run("signal");
    const auto& facts = found.ended("exit");
    long calls = 0, unseen = 0;
    ASSERT_EQ(std::sscanf(found.output.c_str(), "calls %ld count 1\n", &calls), 1) << found.output;
    if (const auto absence = facts.find("absence"); absence != facts.end()) unseen = std::stol(absence->second);
    EXPECT_EQ(number(facts, "calls_learnt") + unseen, calls);
    EXPECT_EQ(number(facts, "calls_missed"), 0);
}

// It holds its lock while it writes to a log: whoever allocated while a call is learnt would wait for ever.
TEST(layer_test, a_program_with_a_malloc_of_its_own_that_writes_is_learnt) {
    const temporary_folder files;
    const predicted_run found = run_predicted("timeout 60 " HALCYON_TEST_OWN_MALLOC " " + files.path().string());
    EXPECT_EQ(found.status, 0);
    long most = 0;
    for (const auto& facts : found.processes) most = std::max(most, number(facts, "calls_learnt"));
    EXPECT_GE(most, 30'000);
}

TEST(layer_test, threads_beyond_the_most_are_counted) {
    const predicted_run found = run("beyond");
    const auto& facts = found.ended("exit");
    EXPECT_EQ(number(facts, "threads"), 256);
    EXPECT_EQ(number(facts, "threads_beyond"), 44);
    EXPECT_EQ(number(facts, "calls_of_threads_beyond"), 2 * 44);
    EXPECT_EQ(number(facts, "calls_learnt"), 2 * 256);
}

TEST(layer_test, a_thread_goes_on_with_the_model_of_one_that_has_ended) {
    const predicted_run found = run("in-turn");
    const auto& facts = found.ended("exit");
    EXPECT_EQ(number(facts, "calls_learnt"), 3 * 400);
    EXPECT_EQ(number(facts, "calls_of_threads_beyond"), 0);
    EXPECT_LE(number(facts, "threads"), 8);
}

TEST(layer_test, a_full_memory_is_told) {
    const predicted_run found = run("loop", std::string(never_late) + " HALCYON_PREDICT_MEMORY=8192");
    const auto& facts = found.ended("exit");
    EXPECT_EQ(number(facts, "calls_learnt") + number(facts, "calls_without_room"), 72);
    EXPECT_GT(number(facts, "calls_without_room"), 0);
}

TEST(layer_test, records_beside_it_are_the_same) {
    const predicted_run found = run("loop", never_late, "trace,predict");
    EXPECT_TRUE(found.output.starts_with(step_10)) << found.output;
}

TEST(layer_test, what_is_asked_for_wrongly_or_in_vain_is_refused) {
    const predicted_run without = run("refused", never_late, "trace");
    EXPECT_TRUE(
        without.output.starts_with("4: halcyon_forecast: nothing learns the I/O of this process; start the "
                                   "program by `halcyon run --predict -- PROGRAM`\n"))
        << without.output;
    const predicted_run with = run("refused");
    std::istringstream lines(with.output);
    std::string line;
    const auto next = [&] { return std::getline(lines, line) ? line : "no more lines"; };
    EXPECT_TRUE(next().starts_with("0: "));
    EXPECT_TRUE(next().starts_with("2: halcyon_forecast: 4 accesses are asked for, there is room for 3;")) << line;
    EXPECT_TRUE(next().starts_with("2: halcyon_forecast: forecast is a null pointer")) << line;
    EXPECT_TRUE(next().starts_with("2: halcyon_forecast_window: a window of -1")) << line;
    EXPECT_TRUE(next().starts_with("2: halcyon_forecast: accesses is a null pointer, its capacity is 3")) << line;
    EXPECT_TRUE(next().starts_with("2: halcyon_forecast_window: size_bytes of the halcyon_forecast_t is 0; set it to"))
        << line;
}

TEST(layer_test, no_more_is_filled_in_than_the_program_has_room_for) {
    EXPECT_EQ(run("as-of-old").output, "count 3 threads 1 touched 0\n");
}

TEST(layer_test, a_program_that_knows_more_members_reads_how_many_are_filled_in) {
    EXPECT_EQ(run("as-of-new").output, "count 3 threads 1 size as known here, later member 42\n");
}

TEST(layer_test, a_saved_model_knows_what_comes_from_the_beginning_on) {
    const temporary_folder models;
    const temporary_folder files;
    const std::string folder = models.path().string();
    const predicted_run learning = run_in(
        files, "steps 10", std::string(never_late) + " HALCYON_PREDICT_SAVE=" + folder + " OMPI_COMM_WORLD_RANK=3");
    EXPECT_EQ(learning.ended("exit").at("saved"), "yes");
    EXPECT_TRUE(std::filesystem::exists(models.path() / "forecasting.3.model"));
    const std::string again = std::string(never_late) + " HALCYON_PREDICT_LOAD=" + folder;
    const predicted_run knowing = run_in(files, "steps 0", again + " PMI_RANK=3");
    EXPECT_EQ(knowing.ended("exit").at("loaded"), "yes");
    // It has opened the log already, as the saved run did at its beginning. What the first file is called this time
    // nobody knows.
    EXPECT_TRUE(knowing.output.starts_with("open  new -1 -1\nwrite  0 4096\n")) << knowing.output;
    EXPECT_NE(knowing.output.find(" 8192 4096\nclose "), std::string::npos) << knowing.output;
    const predicted_run other = run_in(files, "steps 0", again + " PMI_RANK=4");
    EXPECT_EQ(other.ended("exit").at("loaded"), "no");
    EXPECT_EQ(other.output, "");
}

TEST(layer_test, a_limit_of_file_sizes_costs_the_model_and_not_the_program) {
    const temporary_folder models;
    const temporary_folder files;
    const predicted_run found =
        run_predicted("sh -c 'ulimit -f 2; exec \"$@\"' sh " HALCYON_TEST_PROGRAM " two-kinds " + files.path().string(),
                      std::string(never_late) + " HALCYON_PREDICT_SAVE=" + models.path().string());
    EXPECT_EQ(found.status, 0) << found.output;
    EXPECT_NE(found.output.find("forecasting.model: the model cannot be saved: File too large\n"), std::string::npos)
        << found.output;
    EXPECT_FALSE(std::filesystem::exists(models.path() / "forecasting.model"));
}

TEST(layer_test, a_complaint_that_nobody_reads_does_not_end_the_program) {
    const temporary_folder files;
    // The reader ends before the program begins: its standard error is a pipe without one.
    const predicted_run found =
        run_predicted("bash -c 'exec 2> >(exec true); wait $!; exec \"$@\"' bash " HALCYON_TEST_PROGRAM " loop " +
                          files.path().string(),
                      std::string(never_late) + " HALCYON_PREDICT_SAVE=/proc/nowhere");
    EXPECT_EQ(found.status, 0) << found.output;
}

TEST(layer_test, a_complaint_is_not_written_into_a_file_of_the_application) {
    const temporary_folder files;
    const predicted_run found =
        run_in(files, "file-as-standard-error", std::string(never_late) + " HALCYON_PREDICT_SAVE=/proc/nowhere");
    EXPECT_EQ(found.ended("exit").at("saved"), "no");
    EXPECT_EQ(std::filesystem::file_size(files.path() / "precious.2"), 64);
}

TEST(layer_test, a_damaged_model_is_told_and_learnt_anew) {
    const temporary_folder models;
    std::ofstream(models.path() / "forecasting.model") << "HALCMODL and nothing that one could read as a model";
    const predicted_run found =
        run("loop", std::string(never_late) + " HALCYON_PREDICT_LOAD=" + models.path().string());
    EXPECT_NE(found.output.find("forecasting.model: at byte "), std::string::npos) << found.output;
    EXPECT_NE(found.output.find(step_10), std::string::npos) << found.output;
    EXPECT_EQ(found.ended("exit").at("loaded"), "no");
}

TEST(layer_test, more_than_can_be_known_is_told_as_far_as_it_is) {
    const predicted_run found = run("asks-for-all");
    EXPECT_EQ(found.output, "4095 complete 1\n4096 complete 1\n4096 complete 0\n4096 complete 0\n4096 complete 0\n");
}

TEST(layer_test, what_is_no_file_in_a_models_place_is_told_at_once) {
    const temporary_folder models;
    const std::filesystem::path place = models.path() / "forecasting.model";
    const std::string command = "timeout 20 " HALCYON_TEST_PROGRAM " two-kinds ";
    const auto expect = [&](const std::string& complaint) {
        const temporary_folder files;
        const predicted_run found =
            run_predicted(command + files.path().string(),
                          std::string(never_late) + " HALCYON_PREDICT_LOAD=" + models.path().string());
        EXPECT_EQ(found.status, 0) << complaint;
        EXPECT_NE(found.output.find(complaint), std::string::npos) << found.output;
        std::filesystem::remove(place);
    };
    ASSERT_EQ(mkfifo(place.c_str(), 0600), 0);
    expect("forecasting.model: cannot be read: Invalid argument; it is learnt anew\n");
    std::filesystem::create_directory(place);
    expect("forecasting.model: cannot be read: Is a directory; it is learnt anew\n");
    std::ofstream(place) << "no model";
    std::filesystem::resize_file(place, uintmax_t{1} << 40);
    expect("forecasting.model: at byte 0: no saved model");
}

TEST(layer_test, a_huge_file_that_begins_as_a_model_costs_nothing) {
    const temporary_folder models;
    const std::filesystem::path place = models.path() / "forecasting.model";
    const auto complaint = [&](uint64_t said, uint64_t has) {
        std::ofstream(place) << "HALCMODL" << little_endian(4, 4) << little_endian(1, 4) << little_endian(said, 8);
        std::filesystem::resize_file(place, has);
        const temporary_folder files;
        return run_predicted("sh -c 'ulimit -v 2000000; exec \"$@\"' sh timeout 20 " HALCYON_TEST_PROGRAM
                             " two-kinds " +
                                 files.path().string(),
                             std::string(never_late) + " HALCYON_PREDICT_LOAD=" + models.path().string())
            .output;
    };
    constexpr uint64_t huge = uint64_t{14} << 30;
    EXPECT_NE(complaint(4096, huge).find("a length of 4096 bytes, and the file has 15032385536: cut off"),
              std::string::npos);
    EXPECT_NE(complaint(huge, huge).find("15032385536 bytes; a saved model has 1073741824 at most"), std::string::npos);
}

}  // namespace
}  // namespace halcyon::tests
