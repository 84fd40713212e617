#include "observe/trace/trace_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "calls/state/descriptors.hpp"
#include "observe/trace/record_buffer.hpp"
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

TEST(trace_file, that_is_removed_leaves_nothing) {
    const tests::temporary_folder folder;
    trace_file file;
    ASSERT_TRUE(file.create(folder.file(""), "name"));
    file.remove();
    EXPECT_TRUE(file.create(folder.file(""), "name"));
    EXPECT_TRUE(file.publish());
    file.remove();
    EXPECT_TRUE(std::filesystem::is_empty(folder.file("")));
}

TEST(trace_file, has_its_name_when_it_is_published) {
    const tests::temporary_folder folder;
    trace_file file;
    ASSERT_TRUE(file.create(folder.file(""), "name"));
    EXPECT_FALSE(std::filesystem::exists(folder.file("name.trace")));
    EXPECT_TRUE(file.publish());
    EXPECT_TRUE(std::filesystem::exists(folder.file("name.trace")));
    EXPECT_FALSE(std::filesystem::exists(folder.file("name.begun")));
    EXPECT_TRUE(std::string_view(file.path()).ends_with("/name.trace"));
    file.abandon();
}

TEST(trace_file, stays_out_of_the_applications_numbers) {
    const tests::temporary_folder folder;
    const int before = open("/dev/null", O_RDONLY);
    close(before);
    trace_file file;
    ASSERT_TRUE(file.create(folder.file(""), "name"));
    const int after = open("/dev/null", O_RDONLY);
    close(after);
    EXPECT_EQ(after, before);
    file.abandon();
}

TEST(trace_file, writes_into_no_file_that_took_its_number) {
    const tests::temporary_folder folder;
    trace_file file;
    ASSERT_TRUE(file.create(folder.file(""), "name"));
    const int victim = open(folder.file("victim").c_str(), O_RDWR | O_CREAT, 0600);
    for (const int own : calls::descriptors::own_numbers()) {
        if (own >= 0) dup2(victim, own);
    }
    const process_section process{1, 1, {2, 2, 2}, 1, 0};
    EXPECT_TRUE(file.append(section_kind::process, bytes_of(process), "something"));
    struct stat of_victim {};
    fstat(victim, &of_victim);
    EXPECT_EQ(of_victim.st_size, 0);
    EXPECT_GT(read_bytes(folder.file("name.begun")).size(), sizeof(file_header));
    close(victim);
    file.abandon();
}

TEST(record_buffer, takes_notes_from_many_threads) {
    const tests::temporary_folder folder;
    auto file = std::make_unique<trace_file>();
    auto buffer = std::make_unique<record_buffer>();
    ASSERT_TRUE(file->create(folder.file(""), "many") && file->publish());
    const process_section process{1, 1, {2, 2, 2}, 1, 0};
    file->append(section_kind::process, bytes_of(process), std::string("n\0p\0c\0b\0", 8));
    int error = 0;
    ASSERT_TRUE(buffer->create(folder.file("many.ring").c_str(), 1 << 20, *file, 1, error));
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&] {
            for (uint64_t i = 0; i < 400; ++i) {  // more than the ring has room for
                const absence_section absence{i};
                buffer->note(note_kind::absence, bytes_of(absence), std::string(i % 50, 'x'));
            }
        });
    }
    for (auto& thread : threads) thread.join();
    buffer->flush();
    file->abandon();
    buffer->abandon();
    const trace_reader reader(folder.file("many.trace"));
    EXPECT_EQ(reader.absences.size(), 3200U);
}

TEST(record_buffer, paths_that_are_alike_come_out_whole) {
    const tests::temporary_folder folder;
    auto file = std::make_unique<trace_file>();
    auto buffer = std::make_unique<record_buffer>();
    ASSERT_TRUE(file->create(folder.file(""), "paths") && file->publish());
    const process_section process{1, 1, {2, 2, 2}, 1, 0};
    file->append(section_kind::process, bytes_of(process), std::string("n\0p\0c\0b\0", 8));
    int error = 0;
    ASSERT_TRUE(buffer->create(folder.file("paths.ring").c_str(), 1 << 20, *file, 1, error));
    const std::vector<std::string> paths = {"/a", "/a/" + std::string(300, 'b') + "c",
                                            "/a/" + std::string(300, 'b') + "d", "", "/a"};
    std::vector<file_section> sections = {{1, 5, 512}, {2, 5, 512}, {3, 5, 512}, {9, 5, 512}, {10, 6, -1}};
    for (size_t i = 0; i < paths.size(); ++i) EXPECT_TRUE(buffer->note_file(sections[i], paths[i]));
    buffer->flush();
    file->abandon();
    buffer->abandon();
    const trace_reader reader(folder.file("paths.trace"));
    ASSERT_EQ(reader.files.size(), paths.size());
    for (size_t i = 0; i < paths.size(); ++i) {
        EXPECT_EQ(reader.files[i].path, paths[i]);
        EXPECT_EQ(reader.files[i].id, sections[i].id);
        EXPECT_EQ(reader.files[i].filesystem, sections[i].filesystem);
        EXPECT_EQ(reader.files[i].block_bytes, sections[i].block_bytes);
    }
}

}  // namespace
}  // namespace halcyon::observe::trace
