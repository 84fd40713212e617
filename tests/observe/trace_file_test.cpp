#include "observe/trace/trace_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <vector>

#include "calls/descriptors.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/written_trace.hpp"

namespace halcyon::observe::trace {
namespace {

TEST(trace_file, says_why_it_cannot_be_created) {
    trace_file file;
    EXPECT_FALSE(file.create("/nowhere/at/all", "name"));
    EXPECT_EQ(file.error(), ENOENT);
    trace_file other;
    EXPECT_FALSE(other.create(std::string(4000, 'x'), "name"));
    EXPECT_EQ(other.error(), ENAMETOOLONG);
}

TEST(trace_file, stays_out_of_the_applications_numbers) {
    const scratch_folder folder;
    const int before = open("/dev/null", O_RDONLY);
    close(before);
    trace_file file;
    ASSERT_TRUE(file.create(folder.path(""), "name"));
    const int after = open("/dev/null", O_RDONLY);
    close(after);
    EXPECT_EQ(after, before);
    file.abandon();
}

TEST(trace_file, writes_into_no_file_that_took_its_number) {
    const scratch_folder folder;
    trace_file file;
    ASSERT_TRUE(file.create(folder.path(""), "name"));
    const int victim = open(folder.path("victim").c_str(), O_RDWR | O_CREAT, 0600);
    for (const int own : calls::descriptors::own_numbers()) {
        if (own >= 0) dup2(victim, own);
    }
    const absence_section absence{1};
    EXPECT_TRUE(file.append(section_kind::absence, bytes_of(absence), "something"));
    struct stat of_victim {};
    fstat(victim, &of_victim);
    EXPECT_EQ(of_victim.st_size, 0);
    EXPECT_GT(read_bytes(folder.path("name.trace")).size(), sizeof(file_header));
    close(victim);
    file.abandon();
}

TEST(trace_file, takes_sections_from_many_threads) {
    const scratch_folder folder;
    std::mt19937_64 random(1);
    const std::string path = write_trace(folder, "run", usual_records(10, random), true);
    auto file = std::make_unique<trace_file>();
    ASSERT_TRUE(file->create(folder.path(""), "many"));
    const process_section process{1, 1, {2, 2, 2}, 1, 0};
    file->append(section_kind::process, bytes_of(process), std::string("n\0p\0c\0b\0", 8));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&] {
            for (uint64_t i = 0; i < 200; ++i) {
                const absence_section absence{i};
                file->append(section_kind::absence, bytes_of(absence), std::string(i % 50, 'x'));
            }
        });
    }
    for (auto& thread : threads) thread.join();
    file->abandon();
    const trace_reader reader(folder.path("many.trace"));
    EXPECT_EQ(reader.absences.size(), 1600U);
}

}  // namespace
}  // namespace halcyon::observe::trace
