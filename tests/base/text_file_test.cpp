// Files that are read whole.

#include "base/text_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "temporary_folder.hpp"

namespace halcyon {
namespace {

std::string file_with(const tests::temporary_folder& folder, const std::string& bytes) {
    std::string path = folder.file("file");
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
}

TEST(text_file, is_read_whole) {
    const tests::temporary_folder folder;
    for (const size_t bytes : {0U, 1U, 65535U, 65536U, 65537U, 200000U}) {
        const std::string text(bytes, 'x');
        EXPECT_EQ(read_text_file(file_with(folder, text)).value(), text) << bytes;
    }
}

TEST(text_file, with_a_zero_byte_is_refused_with_its_place) {
    const tests::temporary_folder folder;
    const std::string bytes = std::string(70000, 'x') + '\0' + "more";
    const std::string path = file_with(folder, bytes);
    const auto text = read_text_file(path);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.why().kind, error_kind::config);
    EXPECT_EQ(text.why().message, path + ": byte 70000 is zero, which no text has: damaged, or a file of another kind");
    EXPECT_EQ(read_file(path).value(), bytes) << "what is no text may have zeros";
}

TEST(text_file, with_a_hole_larger_than_any_memory_is_refused) {
    const tests::temporary_folder folder;
    const std::string path = file_with(folder, "halcyon: 1\n");
    std::filesystem::resize_file(path, uintmax_t{1} << 40);
    ASSERT_FALSE(read_text_file(path));
}

TEST(text_file, written_into_a_pipe_is_read_whole) {
    const tests::temporary_folder folder;
    const std::string path = folder.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const std::string bytes(200000, 'x');
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << bytes; });
    EXPECT_EQ(read_text_file(path).value(), bytes);
    writer.join();
}

TEST(text_file, of_a_pipe_into_which_nobody_writes_is_not_waited_for_without_end) {
    const tests::temporary_folder folder;
    const std::string path = folder.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const auto text = read_file(path, std::chrono::seconds{1});
    ASSERT_FALSE(text);
    EXPECT_EQ(text.why().message,
              path + ": a pipe into which nobody has written for 1 s: name a file, or start what writes into it");
}

TEST(text_file, that_is_a_directory_or_missing_is_said) {
    const tests::temporary_folder folder;
    EXPECT_EQ(read_text_file(folder.path().string()).why().system_errno, EISDIR);
    EXPECT_EQ(read_text_file(folder.file("none")).why().system_errno, ENOENT);
}

}  // namespace
}  // namespace halcyon
