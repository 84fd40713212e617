#include "calls/memory_backend/memory_backend.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>

#include "calls/backend_conformance/fixture.hpp"

namespace halcyon::calls {
namespace {

constinit memory_backend first_of_process;
constinit memory_backend again;

constexpr int64_t capacity = 64 << 20;

/// What all cases here share: files in 64 MiB.
memory_backend& files() {
    EXPECT_GE(first_of_process.start(-1, capacity), 0);
    return first_of_process;
}

uint64_t room() {
    struct statfs system {};
    EXPECT_EQ(files().stat_system(system), 0);
    return system.f_bfree * static_cast<uint64_t>(system.f_bsize);
}

/// Kills processes that do `step` all the time until one dies with a lock, which another then takes over with `step`.
template <class Step>
void expect_lock_taken_over(Step step) {
    constexpr int most_kills = 2000;
    const uint32_t before = files().locks_taken_over();
    for (int kills = 0; kills < most_kills && files().locks_taken_over() == before; ++kills) {
        const signpost works;
        child_process child(files(), [&] {
            step();
            works.set();
            for (;;) step();
            return 0;
        });
        works.wait();
        for (int turns = 0; turns < kills % 7; ++turns) sched_yield();
        child.kill();
        EXPECT_EQ(child.result(), -SIGKILL);
        step();
    }
    EXPECT_GT(files().locks_taken_over(), before);
}

TEST(memory_backend, a_descriptor_of_its_memory_is_all_that_another_needs) {
    const int memory = files().start(-1);
    EXPECT_EQ(again.start(memory), memory);
    opened_file file(files(), "/shared", O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("text", 0), 4);
    opened_file same(again, "/shared", O_RDWR);
    EXPECT_EQ(same.read(10, 0), "text");
    EXPECT_EQ(again.unlink("/shared"), 0);
    EXPECT_EQ(file.stat().st_nlink, 0U);
    EXPECT_EQ(fcntl(memory, F_GETFD), 0) << "programs that the process becomes have it";
    EXPECT_GT(memory, 100) << "out of applications' way";
}

TEST(memory_backend, its_room_is_what_it_was_given) {
    const uint64_t before = room();
    EXPECT_LE(before, static_cast<uint64_t>(capacity));
    opened_file file(files(), "/large", O_CREAT | O_RDWR);
    EXPECT_EQ(file.write(std::string(3 << 20, 'x'), 0), 3 << 20);
    EXPECT_EQ(before - room(), 3U << 20);
    EXPECT_EQ(file.stat().st_blocks, (3 << 20) / 512);
    EXPECT_EQ(file.write("far", int64_t{1} << 39), 3);
    EXPECT_EQ(before - room(), (3U << 20) + (256U << 10));
    EXPECT_EQ(files().resize(file.handle(), 1000), 0);
    file.close();
    EXPECT_EQ(before - room(), 256U << 10) << "what was cut off comes back when nobody has the file open";
    EXPECT_EQ(files().unlink("/large"), 0);
    EXPECT_EQ(room(), before);
}

TEST(memory_backend, getting_ready_for_another_program_in_vain_costs_nothing) {
    const uint64_t before = room();
    opened_file file(files(), "/kept", O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("text", 0), 4);
    EXPECT_EQ(files().unlink("/kept"), 0);
    files().before_exec();
    EXPECT_LT(room(), before);
    file.close();
    EXPECT_EQ(room(), before);
}

TEST(memory_backend, files_have_a_largest_size) {
    constexpr int64_t most = int64_t{1} << 40;
    opened_file file(files(), "/long", O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("xyz", most - 2), 2);
    EXPECT_EQ(file.size(), most);
    EXPECT_EQ(file.read(10, most - 2), "xy");
    EXPECT_EQ(file.write("x", most), -EFBIG);
    int64_t at = 0;
    EXPECT_EQ(file.append("x", at), -EFBIG);
    EXPECT_EQ(files().resize(file.handle(), most + 1), -EFBIG);
    EXPECT_EQ(files().reserve(file.handle(), 0, most, 1), -EFBIG);
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_start = most;
    EXPECT_EQ(files().lock(file.handle(), F_SETLK, range), -EOVERFLOW);
    file.close();
    EXPECT_EQ(files().unlink("/long"), 0);
}

TEST(memory_backend, links_that_lead_out_of_it_lead_nowhere) {
    EXPECT_EQ(files().make_symbolic_link("/etc/passwd", "/absolute"), 0);
    EXPECT_EQ(files().make_symbolic_link("../up", "/up"), 0);
    for (const char* const name : {"/absolute", "/up"}) {
        EXPECT_EQ(opened_file(files(), name, O_RDWR | O_CREAT).result(), -EXDEV);
        struct stat out {};
        EXPECT_EQ(files().stat_path(name, true, out), -EXDEV);
        EXPECT_EQ(files().stat_path(name, false, out), 0);
        EXPECT_EQ(files().unlink(name), 0);
    }
}

TEST(memory_backend, mapped_pages_behind_the_end_are_zeros) {
    opened_file file(files(), "/mapped", O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("text", 0), 4);
    constexpr size_t bytes = 1 << 20;
    const int64_t at = files().map(file.handle(), nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
    ASSERT_GT(at, 0);
    char* const text = reinterpret_cast<char*>(at);
    EXPECT_EQ(std::string(text, 4), "text");
    EXPECT_EQ(std::string(text + 4, bytes - 4), std::string(bytes - 4, '\0'));
    text[bytes - 1] = 'x';
    EXPECT_EQ(file.size(), 4);
    EXPECT_EQ(munmap(text, bytes), 0);
    EXPECT_EQ(files().unlink("/mapped"), 0);
}

TEST(memory_backend, punched_ranges_are_zeros_again) {
    constexpr int punch = 3;  // FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
    opened_file file(files(), "/punched", O_CREAT | O_RDWR);
    EXPECT_EQ(file.write(std::string(600'000, 'x'), 0), 600'000);
    EXPECT_EQ(files().reserve(file.handle(), punch, 10, 599'000), 0);
    EXPECT_EQ(file.size(), 600'000);
    EXPECT_TRUE(file.read(600'000, 0) == std::string(10, 'x') + std::string(599'000, '\0') + std::string(990, 'x'));
    EXPECT_EQ(files().reserve(file.handle(), 1, 1'000'000, 10), 0);
    EXPECT_EQ(file.size(), 600'000) << "FALLOC_FL_KEEP_SIZE";
    EXPECT_EQ(files().reserve(file.handle(), 0x20, 0, 4096), -EOPNOTSUPP) << "FALLOC_FL_INSERT_RANGE";
    EXPECT_EQ(files().unlink("/punched"), 0);
}

TEST(memory_backend, locks_of_ended_processes_are_taken_over) {
    opened_file file(files(), "/appended", O_CREAT | O_RDWR);
    const std::string record(1 << 20, 'r');
    expect_lock_taken_over([&] {
        int64_t at = 0;
        EXPECT_EQ(file.append(record, at), static_cast<ssize_t>(record.size()));
        EXPECT_TRUE(at < 8 << 20 || files().resize(file.handle(), 0) == 0);
    });
    expect_lock_taken_over([&] {
        char path[4096];
        EXPECT_GT(files().path_of(file.handle(), path, sizeof path), 0);
    });
    EXPECT_EQ(files().resize(file.handle(), 0), 0);
    EXPECT_EQ(files().resize(file.handle(), 20 << 20), 0);
    EXPECT_TRUE(file.read(20 << 20, 0) == std::string(20 << 20, '\0')) << "what was left half-done is not to be seen";
    EXPECT_EQ(files().unlink("/appended"), 0);
}

}  // namespace
}  // namespace halcyon::calls
