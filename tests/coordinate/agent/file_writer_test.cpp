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

}  // namespace
}  // namespace halcyon::coordinate
