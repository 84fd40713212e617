// What readers of both nodes find when the agent that brings staged data is killed before or behind any system call by
// which it changes files, on the node's disk or in the container; and what the next agent makes of that.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "killed_at_step.hpp"
#include "logfs/background/agent.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/stats.hpp"
#include "staged_file.hpp"

namespace halcyon::logfs {
namespace {

using names = std::vector<std::string>;

constexpr int pieces = 8;
constexpr int synced_pieces = 3;
constexpr int64_t piece_bytes = 1000;
constexpr int64_t stride = 1500;

std::string piece(int number) {
    return std::string(piece_bytes, static_cast<char>('a' + number));
}

/// What a node reads once all was brought.
std::string whole_text() {
    std::string text((pieces - 1) * stride + piece_bytes, '\0');
    for (int i = 0; i < pieces; ++i) text.replace(static_cast<size_t>(i * stride), piece_bytes, piece(i));
    return text;
}

/// Staged by a process of this node that has synced the first pieces, and was killed.
class killed_agent : public ::testing::Test {
  protected:
    void write(const tests::staged_file& file) {
        container in;
        in.create(file.path, 0644, 4).value();
        const pid_t writing = ::fork();
        if (writing == 0) {
            writer to(in);
            to.open(writer_identity::of_this_process(), file.staging()).value();
            for (int i = 0; i < pieces; ++i) {
                to.write(i * stride, tests::as_bytes(piece(i))).value();
                if (i == synced_pieces - 1) to.sync().value();
            }
            ::_exit(0);
        }
        int status = -1;
        ASSERT_EQ(::waitpid(writing, &status, 0), writing);
        ASSERT_EQ(status, 0);
    }

    static agent_report work(const tests::staged_file& file) {
        agent_settings how;
        how.roots = {file.shared};
        how.stage = file.stage;
        how.patience_ns = 0;
        watched_process none(0);
        no_turns turns;
        return run_agent(how, none, turns);
    }

    /// Each piece, or ENODATA and why; never anything else.
    static void expect_pieces_or_no_data(reader& from) {
        for (int i = 0; i < pieces; ++i) {
            tests::bytes data(piece_bytes);
            const auto read = from.read(i * stride, data);
            if (read.ok()) {
                EXPECT_EQ(*read, piece_bytes);
                EXPECT_EQ(tests::as_text(data), piece(i)) << i;
            } else {
                EXPECT_GE(i, synced_pieces);
                EXPECT_EQ(read.why().system_errno, ENODATA) << read.why().message;
                EXPECT_NE(read.why().message.find("lie on node"), std::string::npos) << read.why().message;
            }
        }
    }
};

TEST_F(killed_agent, shows_no_hole_on_any_node_and_the_next_one_goes_on) {
    bool was_killed = true;
    long step = 0;
    for (; was_killed; ++step) {
        ASSERT_LT(step, 1000);
        const tests::staged_file file;
        write(file);
        // Of the other node: it has opened the file before anything was brought, and reads on.
        tests::other_node calls(file.stage);
        container there(calls);
        there.open(file.path).value();
        reader reads_on(there, tests::beside_writers());
        reads_on.reload().value();
        const auto look = [&] {
            EXPECT_EQ(file.read_here().text, whole_text());
            expect_pieces_or_no_data(reads_on);
            reader fresh(there, tests::beside_writers());
            ASSERT_TRUE(fresh.reload().ok());
            EXPECT_EQ(fresh.size(), static_cast<int64_t>(whole_text().size()));
            expect_pieces_or_no_data(fresh);
            EXPECT_TRUE(check(there)->is_sound());
        };
        was_killed = halcyon::tests::killed_at(
            step, [&] { ::_exit(work(file).left.empty() ? 0 : 1); }, look);
        if (!was_killed) look();
        EXPECT_EQ(work(file).left, names{});
        EXPECT_EQ(file.read_elsewhere().text, whole_text());
        reads_on.reload().value();
        EXPECT_EQ(tests::as_text(tests::all_of(reads_on)), whole_text());
        EXPECT_EQ(stats(there)->staged_bytes, 0);
        EXPECT_EQ(file.droppings(), (names{"data", "index"}));
        EXPECT_EQ(file.on_node(), names{});
        ASSERT_FALSE(HasFailure()) << "killed at step " << step;
    }
    EXPECT_GT(step, 20) << "the test shows nothing";
}

}  // namespace
}  // namespace halcyon::logfs
