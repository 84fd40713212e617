// Files on a file system that takes its time, or does not take them.
#include "coordinate/agent/file_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "temporary_folder.hpp"

namespace halcyon::coordinate {
namespace {

class file_writers : public testing::Test {
  protected:
    [[nodiscard]] static std::string text_of(const std::string& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void end() { writer_.reset(); }

    tests::temporary_folder folder_;
    std::string file_ = folder_.file("file"), other_ = folder_.file("other");
    std::optional<file_writer> writer_{std::in_place};
};

TEST_F(file_writers, let_nobody_wait_and_write_the_latest_text) {
    ASSERT_EQ(::mkfifo((file_ + ".tmp").c_str(), 0600), 0);
    const descriptor reader(::open((file_ + ".tmp").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const std::string first(size_t{1} << 20U, 'x');  // more than a pipe takes
    writer_->write(file_, first);
    pollfd begun{reader.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&begun, 1, 60'000), 1);
    writer_->write(file_, "second");
    writer_->write(other_, "of another file");
    writer_->write(file_, "third");
    EXPECT_FALSE(std::filesystem::exists(other_));
    ::fcntl(reader.get(), F_SETFL, 0);
    std::string seen(first.size(), '\0');
    for (size_t done = 0; done < seen.size();) {
        const ssize_t bytes = ::read(reader.get(), seen.data() + done, seen.size() - done);
        ASSERT_GT(bytes, 0);
        done += static_cast<size_t>(bytes);
    }
    EXPECT_EQ(seen, first);
    end();
    EXPECT_EQ(text_of(file_), "third");
    EXPECT_EQ(text_of(other_), "of another file");
}

TEST_F(file_writers, write_all_before_they_end) {
    for (int i = 0; i < 100; ++i) writer_->write(folder_.file(std::to_string(i)), std::to_string(i));
    end();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(text_of(folder_.file(std::to_string(i))), std::to_string(i));
}

TEST_F(file_writers, try_again_what_could_not_be_written) {
    const std::string folder = folder_.file("later"), file = folder + "/file";
    writer_->write(file, "text");
    std::filesystem::create_directory(folder);
    while (!std::filesystem::exists(file)) {
        writer_->try_again();
        ::usleep(1000);
    }
    EXPECT_EQ(text_of(file), "text");
}

/// A folder that stays away for the whole run of a job whose processes are killed again and again.
TEST_F(file_writers, keep_no_more_than_there_is_room_for_and_newer_texts_of_those) {
    const std::string folder = folder_.file("later") + "/";
    writer_->write(folder + "own", "text");
    size_t kept = 1;
    while (writer_->write_if_room(folder + std::to_string(kept), "text")) {
        ASSERT_LE(++kept, file_writer::most_kept);
    }
    EXPECT_EQ(kept, file_writer::most_kept);
    writer_->write(folder + "own", "newer");
    std::filesystem::create_directory(folder);
    end();
    EXPECT_EQ(text_of(folder + "own"), "newer");
    EXPECT_EQ(text_of(folder + std::to_string(kept - 1)), "text");
    EXPECT_FALSE(std::filesystem::exists(folder + std::to_string(kept)));
}

TEST_F(file_writers, try_less_and_less_often_while_nothing_can_be_written) {
    const std::string other_folder = folder_.file("of_another_file");
    writer_->write(other_folder + "/file", "text");
    const auto calls_until_a_try = [&] {
        const uint64_t before = writer_->tries();
        uint32_t calls = 0;
        for (int waited_ms = 0; writer_->is_writing() && waited_ms < 60'000; ++waited_ms) ::usleep(1000);
        for (; writer_->tries() == before && calls < 1000; ++calls) writer_->try_again();
        return calls;
    };
    std::vector<uint32_t> calls;
    for (int i = 0; i < 7; ++i) calls.push_back(calls_until_a_try());
    EXPECT_EQ(calls, (std::vector<uint32_t>{1, 2, 4, 8, 16, 32, 32}));
}

}  // namespace
}  // namespace halcyon::coordinate
