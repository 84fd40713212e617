#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "logfs/backend/mounted_log.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/stats.hpp"

namespace halcyon::logfs {
namespace {

using calls::child_process;
using calls::opened_file;

/// What a process keeps of containers that it has closed.
class resting : public log_test {
  protected:
    void append(const std::string& name, const std::string& text, int flags = O_WRONLY) {
        opened_file file(files(), path(name), flags | O_CREAT | O_APPEND);
        ASSERT_EQ(file.result(), 0);
        int64_t at = 0;
        ASSERT_EQ(file.append(text, at), static_cast<ssize_t>(text.size()));
    }
    [[nodiscard]] container_stats figures(const std::string& name) const {
        container of;
        of.open(real(name)).value();
        return stats(of).value();
    }
    /// As a process does that knows nothing of this one.
    [[nodiscard]] std::string seen_by_others(const std::string& name) const {
        container of;
        of.open(real(name)).value();
        reader from(of);
        from.reload().value();
        std::string text(static_cast<size_t>(from.size()), '?');
        from.read(0, std::as_writable_bytes(std::span(text))).value();
        return text;
    }
};

TEST_F(resting, a_file_that_is_opened_for_each_line_has_two_logs) {
    std::string text;
    for (int number = 0; number < 50; ++number) {
        const std::string line = std::to_string(number) + "\n";
        append("f", line);
        text += line;
        ASSERT_EQ(content("f"), text);
        ASSERT_EQ(seen_by_others("f"), text);
    }
    const container_stats now = figures("f");
    EXPECT_EQ(now.writers, 2U);
    EXPECT_EQ(now.open_writers, 0U);
    EXPECT_EQ(now.conflict_bytes, 0);
}

TEST_F(resting, what_another_process_wrote_in_between_is_seen_and_written_over) {
    for (int round = 0; round < 6; ++round) {
        append("f", "own ");
        child_process other(files(), [&] {
            opened_file file(files(), path("f"), O_RDWR);
            const std::string last = "own ";
            if (file.read(4, file.size() - 4) != last) return __LINE__;
            if (file.write("his", 0) != 3) return __LINE__;
            int64_t at = 0;
            return file.append("his ", at) == 4 ? 0 : __LINE__;
        });
        ASSERT_EQ(other.result(), 0);
        opened_file file(files(), path("f"), O_RDWR);
        ASSERT_EQ(file.read(3, 0), "his") << round;
        ASSERT_EQ(file.size(), 8 * (round + 1));
        ASSERT_EQ(file.write("own", 0), 3);
        ASSERT_EQ(file.read(3, 0), "own") << round;
    }
    EXPECT_EQ(seen_by_others("f").substr(0, 16), "own his own his ");
    EXPECT_EQ(figures("f").conflict_bytes, 0);
}

TEST_F(resting, a_file_that_is_there_in_place_of_the_one_before_is_another_one) {
    for (int round = 0; round < 4; ++round) {
        append("f", "one");
        append("f", "one");
        ASSERT_EQ(files().unlink(path("f").c_str()), 0);
        EXPECT_EQ(stat_error("f"), -ENOENT);
        append("f", "two");
        EXPECT_EQ(content("f"), "two");
        append("g", "three");
        append("g", "three");
        ASSERT_EQ(files().rename(path("g").c_str(), path("f").c_str(), 0), 0);
        EXPECT_EQ(content("f"), "threethree");
        append("f", "more");
        EXPECT_EQ(content("f"), "threethreemore");
        ASSERT_EQ(files().unlink(path("f").c_str()), 0);
    }
}

TEST_F(resting, a_container_is_made_plain_while_its_process_lives) {
    for (const char* const text : {"one ", "two ", "three "}) append("f", text);
    EXPECT_EQ(figures("f").writers, 2U);
    {
        container of;
        of.open(real("f")).value();
        flatten_options how;
        ASSERT_TRUE(flatten(of, real("f"), how).ok());
    }
    EXPECT_EQ(plain("f"), "one two three ");
    // The kernel's from now on.
    EXPECT_FALSE(files().answers(path("f").c_str()));
}

TEST_F(resting, a_process_that_is_killed_leaves_what_it_wrote) {
    child_process writer(files(), [&] {
        for (const char* const text : {"one ", "two ", "three "}) append("f", text);
        opened_file open(files(), path("f"), O_WRONLY);
        if (open.write("ONE", 0) != 3) return __LINE__;
        kill(getpid(), SIGKILL);
        return 0;
    });
    EXPECT_EQ(writer.result(), -SIGKILL);
    EXPECT_EQ(content("f"), "ONE two three ");
    EXPECT_EQ(figures("f").open_writers, 1U);
    append("f", "four");
    EXPECT_EQ(content("f"), "ONE two three four");
}

TEST_F(resting, no_more_files_rest_than_have_room) {
    constexpr int many = 40;
    for (int round = 0; round < 3; ++round)
        for (int number = 0; number < many; ++number) append("f" + std::to_string(number), "text ");
    for (int number = 0; number < many; ++number) {
        const std::string name = "f" + std::to_string(number);
        ASSERT_EQ(content(name), "text text text ");
        ASSERT_EQ(figures(name).open_writers, 0U);
    }
    int held = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        held += std::filesystem::read_symlink(entry, gone).string().find(real("f")) == 0 ? 1 : 0;
    }
    EXPECT_LE(held, 8 * 3);
}

TEST_F(resting, a_large_log_ends) {
    const std::string large(5 << 20, 'x');
    append("f", "small");
    append("f", large);
    append("f", "small");
    append("f", "small");
    EXPECT_EQ(figures("f").writers, 3U);
    EXPECT_EQ(seen_by_others("f").size(), large.size() + 15);
}

}  // namespace
}  // namespace halcyon::logfs
