#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "logfs/container/log_file.hpp"
#include "logfs/container/tools/bring.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/punch.hpp"
#include "logfs/container/tools/repair.hpp"
#include "logfs/container/tools/stats.hpp"
#include "staged_file.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using names = std::vector<std::string>;
using tests::as_bytes;

/// This process, whose writers are known to be alive.
writer_identity me() {
    return writer_identity::of_this_process();
}

class staging : public ::testing::Test {
  protected:
    void SetUp() override { in_.create(file_.path, 0644, 4).value(); }

    void write(std::string_view text, bool syncs = false, bool closes = true) {
        to_.open(me(), file_.staging()).value();
        to_.write(0, as_bytes(text)).value();
        if (syncs) to_.sync().value();
        if (closes) to_.close().value();
    }
    bring_report bring_all() {
        auto done = bring(in_);
        EXPECT_TRUE(done.ok()) << done.why().message;
        return done.ok() ? *done : bring_report{};
    }

    tests::staged_file file_;
    container in_;
    writer to_{in_};
};

TEST_F(staging, puts_data_on_the_node_where_they_are_read) {
    write("here");
    EXPECT_EQ(file_.droppings(), (names{"index", "staged"}));
    EXPECT_EQ(file_.on_node(), (names{"container", "data"}));
    EXPECT_EQ(file_.read_here().text, "here");
}

TEST_F(staging, makes_reads_on_another_node_fail_and_say_why) {
    to_.open(me(), file_.staging()).value();
    to_.write(100, as_bytes("there")).value();
    to_.close().value();
    const auto answer = file_.read_elsewhere();
    EXPECT_EQ(answer.why.system_errno, ENODATA);
    EXPECT_NE(answer.why.message.find("lie on node " + std::string(me().host) + ", in " + file_.stage),
              std::string::npos)
        << answer.why.message;
    EXPECT_NE(answer.why.message.find("halcyon log drain"), std::string::npos);
    // What it did not write needs nobody.
    EXPECT_EQ(file_.read_elsewhere(0, 100).text, std::string(100, '\0'));
    EXPECT_EQ(file_.read_elsewhere(105).text, "");
}

TEST_F(staging, brings_what_is_synced) {
    write("synced", true, false);
    EXPECT_EQ(file_.read_elsewhere().text, "synced");
    to_.write(6, as_bytes(" and not")).value();
    EXPECT_EQ(file_.read_here().text, "synced and not");
    EXPECT_EQ(file_.read_elsewhere(0, 6).text, "synced");
    EXPECT_EQ(file_.read_elsewhere().why.system_errno, ENODATA);
    to_.sync().value();
    EXPECT_EQ(file_.read_elsewhere().text, "synced and not");
    EXPECT_EQ(file_.droppings(), (names{"copied", "index", "staged"}));
    to_.close().value();
    EXPECT_EQ(file_.droppings(), (names{"data", "index"}));
    EXPECT_EQ(file_.on_node(), (names{"container"}));
    EXPECT_EQ(file_.read_elsewhere().text, "synced and not");
}

TEST_F(staging, believes_no_bytes_that_no_commit_speaks_of) {
    write("data");
    // As a crash may leave it: the file is longer than what of it is on the device.
    const std::string data = std::string(with_kind(to_.name(), dropping_kind::data).view());
    std::ofstream(file_.path + "/" + copied_name(data).c_str()) << std::string(4, '\0');
    EXPECT_EQ(file_.read_elsewhere().why.system_errno, ENODATA);
    EXPECT_EQ(bring_all().brought_bytes, 4);
    EXPECT_EQ(file_.read_elsewhere().text, "data");
}

TEST_F(staging, says_durable_when_all_is_in_the_container) {
    write("not synced");
    const auto before = stats(in_);
    ASSERT_TRUE(before.ok());
    EXPECT_EQ(before->durable_bytes, 0);
    EXPECT_EQ(before->staged_bytes, 10);
    EXPECT_EQ(before->staged_on, (names{me().host}));
    const bring_report done = bring_all();
    EXPECT_EQ(done.brought_bytes, 10);
    EXPECT_EQ(done.finished, 1U);
    EXPECT_TRUE(done.left.empty());
    const auto after = stats(in_);
    ASSERT_TRUE(after.ok());
    EXPECT_EQ(after->durable_bytes, 10);
    EXPECT_EQ(after->staged_bytes, 0);
    EXPECT_TRUE(after->staged_on.empty());
    // As after a crash of the node: the commit was made in the writer's name.
    reader_options committed = tests::beside_writers();
    committed.stops_at_commit = true;
    reader from(in_, committed);
    from.reload().value();
    EXPECT_EQ(tests::as_text(tests::all_of(from)), "not synced");
    EXPECT_TRUE(check(in_)->is_sound());
}

TEST_F(staging, brings_of_a_writer_that_goes_on_what_there_is) {
    write("first", false, false);
    const bring_report done = bring_all();
    EXPECT_EQ(done.brought_bytes, 5);
    EXPECT_EQ(done.finished, 0U);
    ASSERT_EQ(done.left.size(), 1U);
    EXPECT_TRUE(done.left[0].is_here);
    // Only the writer says what is durable.
    EXPECT_EQ(file_.read_elsewhere().why.system_errno, ENODATA);
    EXPECT_EQ(bring_all().brought_bytes, 0);
    to_.write(5, as_bytes(" second")).value();
    to_.close().value();
    EXPECT_EQ(bring_all().brought_bytes, 7);
    EXPECT_EQ(file_.read_elsewhere().text, "first second");
    clean_stage(file_.stage, file_.shared, {file_.path});
    EXPECT_EQ(file_.on_node(), names{});
}

TEST_F(staging, leaves_nothing_of_a_writer_that_wrote_nothing) {
    to_.open(me(), file_.staging()).value();
    to_.close().value();
    EXPECT_EQ(file_.droppings(), names{});
    EXPECT_EQ(file_.on_node(), (names{"container"}));
    write("");  // only opened
    to_.open(me(), file_.staging()).value();
    to_.truncate(7).value();
    to_.close().value();
    EXPECT_EQ(bring_all().finished, 1U);
    EXPECT_EQ(file_.read_elsewhere().text, std::string(7, '\0'));
    EXPECT_EQ(file_.droppings(), (names{"data", "index"}));
}

TEST_F(staging, goes_into_the_container_where_the_node_has_no_place) {
    writer_options how;
    const std::string nowhere = file_.folder.file("nowhere");
    how.stage = nowhere;
    to_.open(me(), how).value();
    EXPECT_FALSE(to_.is_staged());
    EXPECT_EQ(to_.why_not_staged(), -ENOENT);
    to_.write(0, as_bytes("at once")).value();
    EXPECT_EQ(file_.read_elsewhere().text, "at once");
}

TEST_F(staging, goes_on_in_the_container_when_the_nodes_disk_is_full) {
    tests::watched_files calls;
    bool is_full = false;
    calls.before = [&](std::string_view call, int64_t bytes) {
        if (call != "write" || bytes != 6 || !is_full) return 0;
        is_full = false;  // the container's is not
        return -ENOSPC;
    };
    opening how;
    how.may_write = true;
    how.writing = file_.staging();
    for (const bool appends : {false, true}) {
        log_file file(calls);
        file.open(file_.path, me(), how).value();
        file.truncate(0).value();
        ASSERT_TRUE(file.write(0, as_bytes("before")).ok());
        is_full = true;
        const auto behind = as_bytes("behind");
        const bool is_written = appends ? file.append(behind).ok() : file.write(6, behind).ok();
        EXPECT_TRUE(is_written);
        ASSERT_TRUE(file.writing().has_value());
        EXPECT_FALSE(file.writing()->is_staged());
        tests::bytes all(12);
        EXPECT_EQ(file.read(0, all).value(), 12);
        EXPECT_EQ(tests::as_text(all), "beforebehind");
        EXPECT_EQ(file_.read_elsewhere(0, 6).text, "before");
        file.close().value();
        EXPECT_EQ(file_.read_elsewhere().text, "beforebehind");
    }
}

/// Whose staged data are refused when they are closed.
class refused_closing final : public tests::watched_files {
  public:
    int close(int fd) override {
        const std::string path = fs::read_symlink("/proc/self/fd/" + std::to_string(fd));
        const bool is_data = path.find(stage_folder) != std::string::npos && path.find("/data.") != std::string::npos;
        const int done = watched_files::close(fd);
        return is_data ? -EIO : done;
    }
};

TEST_F(staging, goes_on_in_the_container_when_it_could_not_be_closed) {
    refused_closing calls;
    bool is_full = false;
    calls.before = [&](std::string_view call, int64_t bytes) {
        return call == "write" && bytes == 6 && std::exchange(is_full, false) ? -ENOSPC : 0;
    };
    opening how;
    how.may_write = true;
    how.writing = file_.staging();
    log_file file(calls);
    file.open(file_.path, me(), how).value();
    file.write(0, as_bytes("before")).value();
    is_full = true;
    const auto refused = file.write(6, as_bytes("behind"));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().system_errno, EIO);
    EXPECT_TRUE(file.write(6, as_bytes("behind")).ok());
    tests::bytes all(12);
    EXPECT_EQ(file.read(0, all).value(), 12);
    EXPECT_EQ(tests::as_text(all), "beforebehind");
}

TEST_F(staging, ends_where_another_process_of_the_node_syncs) {
    to_.open(me(), file_.staging()).value();
    to_.write(0, as_bytes("synced")).value();
    EXPECT_EQ(file_.read_elsewhere().text, "");
    writer_identity other = me();
    other.pid += 1;
    log_file file;
    file.open(file_.path, other, {}).value();
    file.sync().value();
    to_.write(6, as_bytes(" or not")).value();
    EXPECT_EQ(file_.read_elsewhere(0, 6).text, "synced");
    EXPECT_EQ(stats(in_)->durable_bytes, 6);
}

TEST_F(staging, is_known_to_tools) {
    write("data");
    const auto here = check(in_);
    ASSERT_TRUE(here.ok());
    EXPECT_TRUE(here->is_sound());
    ASSERT_EQ(here->findings.size(), 1U);
    EXPECT_NE(here->findings[0].what.find("was not brought into the container yet"), std::string::npos);
    tests::other_node calls(file_.stage);
    container there(calls);
    there.open(file_.path).value();
    const auto elsewhere = check(there);
    ASSERT_TRUE(elsewhere.ok());
    EXPECT_TRUE(elsewhere->is_sound());
    EXPECT_EQ(elsewhere->findings[0].concerns, "4 B of it");
    // Nothing of it is cut, put aside, or given back.
    const auto repaired = repair(there);
    ASSERT_TRUE(repaired.ok()) << repaired.why().message;
    EXPECT_TRUE(repaired->done.empty());
    const auto punched = punch_dead(there);
    ASSERT_TRUE(punched.ok()) << punched.why().message;
    EXPECT_EQ(flatten(there, file_.folder.file("flat")).why().system_errno, ENODATA);
    EXPECT_FALSE(fs::exists(file_.folder.file("flat")));
    EXPECT_TRUE(flatten(in_, file_.folder.file("flat")).ok());
    const auto brought = bring(there);
    ASSERT_TRUE(brought.ok());
    EXPECT_EQ(brought->finished, 1U) << "bring() looks at the node's disk itself";
}

TEST_F(staging, of_another_node_is_left_to_that) {
    write("data");
    fs::rename(file_.stage, file_.folder.file("its disk"));
    const bring_report done = bring_all();
    ASSERT_EQ(done.left.size(), 1U);
    EXPECT_FALSE(done.left[0].is_here);
    EXPECT_EQ(done.left[0].bytes, 4);
    EXPECT_EQ(done.left[0].host, me().host);
    EXPECT_EQ(file_.read_here().why.system_errno, ENODATA);
}

TEST_F(staging, follows_no_mark_to_anywhere_else) {
    write("data");
    const std::string data = std::string(with_kind(to_.name(), dropping_kind::data).view());
    const std::string mark = file_.path + "/" + staged_name(data).c_str();
    std::string text(fs::file_size(mark), ' ');
    std::ifstream(mark).read(text.data(), static_cast<std::streamsize>(text.size()));
    std::ofstream(mark) << text << "x";
    EXPECT_EQ(file_.read_here().why.system_errno, EIO);
    // Sound, and of another container: as one that was copied here would be.
    staged_mark foreign;
    foreign.set("host", file_.stage, in_.id() + 1);
    fs::remove(mark);
    ASSERT_EQ(foreign.write(in_, data), 0);
    EXPECT_EQ(file_.read_here().why.system_errno, EIO);
    EXPECT_FALSE(check(in_)->is_sound());
}

// --- what nobody needs any more ---

TEST_F(staging, is_cleaned_of_containers_that_are_gone) {
    // Of a process that has ended.
    const pid_t child = fork();
    if (child == 0) {
        write("data");
        _exit(0);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_EQ(file_.on_node(), (names{"container", "data"}));
    clean_stage(file_.stage, file_.shared, {file_.path});
    EXPECT_EQ(file_.on_node(), (names{"container", "data"})) << "its container needs it";
    fs::remove_all(file_.path);
    clean_stage(file_.stage, file_.folder.file("other"), {});
    EXPECT_EQ(file_.on_node(), (names{"container", "data"})) << "others look after it";
    // The shared disk is not there for a moment, and an empty folder is in its place.
    fs::rename(file_.shared, file_.folder.file("unmounted"));
    fs::create_directory(file_.shared);
    clean_stage(file_.stage, file_.shared, {});
    EXPECT_EQ(file_.on_node(), (names{"container", "data"}));
    fs::remove(file_.shared);
    fs::rename(file_.folder.file("unmounted"), file_.shared);
    clean_stage(file_.stage, file_.shared, {});
    EXPECT_EQ(file_.on_node(), names{});
}

TEST_F(staging, is_cleaned_with_fewer_descriptors_than_there_are_containers) {
    const pid_t writer = fork();
    if (writer == 0) {
        write("data");
        _exit(0);
    }
    ASSERT_EQ(waitpid(writer, nullptr, 0), writer);
    names all;
    for (int number = 0; number < 60; ++number) {
        container one;
        all.push_back(file_.shared + "/a" + std::to_string(number));
        one.create(all.back(), 0644).value();
    }
    // It was moved since: only its number says which one it is.
    const std::string moved = file_.shared + "/moved";
    fs::rename(file_.path, moved);
    all.push_back(moved);
    const pid_t cleaner = fork();
    if (cleaner == 0) {
        const rlimit few{40, 40};
        if (setrlimit(RLIMIT_NOFILE, &few) != 0) _exit(1);
        clean_stage(file_.stage, file_.shared, all);
        _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(cleaner, &status, 0), cleaner);
    ASSERT_EQ(status, 0);
    EXPECT_EQ(file_.on_node(), (names{"container", "data"})) << "its container needs it";
}

TEST_F(staging, is_not_cleaned_of_what_may_be_needed_by_a_container_that_cannot_be_looked_at) {
    const pid_t writer = fork();
    if (writer == 0) {
        write("data");
        _exit(0);
    }
    ASSERT_EQ(waitpid(writer, nullptr, 0), writer);
    const std::string moved = file_.shared + "/moved";
    fs::rename(file_.path, moved);
    const pid_t cleaner = fork();
    if (cleaner == 0) {
        // Descriptors for a list of names, and no more beside it.
        const rlimit few{40, 40};
        if (setrlimit(RLIMIT_NOFILE, &few) != 0) _exit(1);
        int last = -1;
        for (int next = ::dup(STDERR_FILENO); next >= 0; next = ::dup(STDERR_FILENO)) last = next;
        ::close(last);
        clean_stage(file_.stage, file_.shared, {moved});
        _exit(0);
    }
    ASSERT_EQ(waitpid(cleaner, nullptr, 0), cleaner);
    EXPECT_EQ(file_.on_node(), (names{"container", "data"})) << "its container needs it";
}

// --- crashes ---

struct shared_state {
    std::atomic<uint32_t> acknowledged;
    char last_step[64];
};

/// A container whose staged writer was killed, or that was being brought, at some step.
class killed_staging : public ::testing::Test {
  protected:
    void SetUp() override {
        void* const shared =
            mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(shared, MAP_FAILED);
        state_ = new (shared) shared_state{};
    }
    void TearDown() override { munmap(state_, sizeof *state_); }

    /// `work` in a child that is killed behind its step `last`. False: it has not so many.
    template <class Work>
    bool killed_behind(int last, Work work) {
        const pid_t child = fork();
        if (child == 0) {
            tests::watched_files calls;
            int step = 0;
            const auto passed = [&](std::string_view name) {
                if (++step < last) return;
                state_->last_step[name.copy(state_->last_step, sizeof state_->last_step - 1)] = '\0';
                ::kill(::getpid(), SIGKILL);
            };
            calls.before = [&](std::string_view call, int64_t) {
                passed(call);
                return 0;
            };
            calls.behind = passed;
            work(calls);
            _exit(0);
        }
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : 0, 0);
        return WIFSIGNALED(status);
    }

    shared_state* state_ = nullptr;
};

constexpr int pieces = 12;
std::string piece(int number) {
    return std::string(1000, static_cast<char>('a' + number));
}

/// Of a reader that has a part of the pieces: each of them is whole, or not there, and none is a hole.
void expect_sound(const tests::staged_file::answer& answer, int least, std::string_view who) {
    if (answer.why.system_errno == ENODATA) return;
    ASSERT_EQ(answer.why.system_errno, 0) << who << ": " << answer.why.message;
    ASSERT_GE(answer.text.size(), static_cast<size_t>(least) * 1000) << who;
    ASSERT_EQ(answer.text.size() % 1000, 0U) << who;
    for (size_t i = 0; i < answer.text.size() / 1000; ++i)
        ASSERT_EQ(answer.text.substr(i * 1000, 1000), piece(static_cast<int>(i))) << who;
}

TEST_F(killed_staging, writer_loses_nothing_at_any_step) {
    std::set<std::string> steps;
    for (int last = 1;; ++last) {
        tests::staged_file file;
        container in;
        in.create(file.path, 0644, 4).value();
        new (state_) shared_state{};
        const bool was_killed = killed_behind(last, [&](file_calls& calls) {
            container mine(calls);
            mine.open(file.path).value();
            writer to(mine);
            to.open(me(), file.staging()).value();
            for (int i = 0; i < pieces; ++i) {
                to.write(i * 1000, as_bytes(piece(i))).value();
                if (i % 4 == 3) to.sync().value();
                state_->acknowledged = static_cast<uint32_t>(i) + 1;
            }
            to.close().value();
        });
        const auto acknowledged = static_cast<int>(state_->acknowledged);
        const std::string where = "behind step " + std::to_string(last) + ", " + state_->last_step;
        const auto here = file.read_here();
        ASSERT_EQ(here.why.system_errno, 0) << where << ": " << here.why.message;
        expect_sound(here, acknowledged, where + ", here");
        expect_sound(file.read_elsewhere(), acknowledged, where + ", elsewhere");
        // What is synced is there for all.
        const int synced = acknowledged / 4 * 4;
        if (synced > 0) {
            const auto durable = file.read_elsewhere(0, synced * 1000);
            ASSERT_EQ(durable.text.size(), static_cast<size_t>(synced) * 1000) << where << durable.why.message;
        }
        const auto brought = bring(in);
        ASSERT_TRUE(brought.ok()) << where << ": " << brought.why().message;
        ASSERT_TRUE(brought->left.empty()) << where;
        ASSERT_EQ(file.read_elsewhere().text, here.text) << where;
        ASSERT_TRUE(check(in)->is_sound()) << where;
        clean_stage(file.stage, file.shared, {file.path});
        ASSERT_EQ(file.on_node(), names{}) << where;
        if (HasFatalFailure()) return;
        if (!was_killed) break;
        steps.insert(state_->last_step);
    }
    for (const char* const step :
         {"write", "sync", "rename", "make_directory", "data", "committed", "closed", "remove"})
        EXPECT_TRUE(steps.contains(step)) << step;
}

TEST_F(killed_staging, bringing_goes_on_at_any_step) {
    std::set<std::string> steps;
    for (int last = 1;; ++last) {
        tests::staged_file file;
        container in;
        in.create(file.path, 0644, 4).value();
        {
            writer to(in);
            to.open(me(), file.staging()).value();
            for (int i = 0; i < pieces; ++i) to.write(i * 1000, as_bytes(piece(i))).value();
            to.close().value();
        }
        const bool was_killed = killed_behind(last, [&](file_calls& calls) {
            container mine(calls);
            mine.open(file.path).value();
            if (!bring(mine).ok()) _exit(1);
        });
        const std::string where = "behind step " + std::to_string(last) + ", " + state_->last_step;
        const auto here = file.read_here();
        ASSERT_EQ(here.text.size(), pieces * 1000U) << where << ": " << here.why.message;
        expect_sound(here, pieces, where + ", here");
        expect_sound(file.read_elsewhere(), pieces, where + ", elsewhere");
        const auto again = bring(in);
        ASSERT_TRUE(again.ok()) << where << ": " << again.why().message;
        ASSERT_EQ(file.read_elsewhere().text, here.text) << where;
        ASSERT_EQ(stats(in)->durable_bytes, pieces * 1000) << where;
        ASSERT_EQ(file.droppings(), (names{"data", "index"})) << where;
        clean_stage(file.stage, file.shared, {file.path});
        // Of a writer that is alive (this process), what may be about to be written stays.
        ASSERT_TRUE(file.on_node() == names{} || file.on_node() == (names{"container", "data"})) << where;
        if (HasFatalFailure()) return;
        if (!was_killed) break;
        steps.insert(state_->last_step);
    }
    for (const char* const step : {"write", "sync", "rename", "remove"}) EXPECT_TRUE(steps.contains(step)) << step;
}

/// A large one, killed at random moments again and again, until it is done: what was brought is not brought again.
TEST_F(killed_staging, bringing_ends_however_often_it_is_killed) {
    tests::staged_file file;
    container in;
    in.create(file.path, 0644, 4).value();
    std::mt19937_64 random(3);
    const tests::bytes data = tests::random_bytes(random, size_t{24} << 20);
    {
        writer to(in);
        to.open(me(), file.staging()).value();
        to.write(0, data).value();
        to.close().value();
    }
    bool is_done = false;
    for (int round = 0; round < 2000 && !is_done; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            container mine;
            mine.open(file.path).value();
            bring_options how;
            how.on_progress = [&](int64_t) {
                if (random() % 3 == 0) ::kill(::getpid(), SIGKILL);
                return true;
            };
            _exit(bring(mine, how).ok() ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        static_cast<void>(random());
        is_done = WIFEXITED(status);
        ASSERT_TRUE(!is_done || WEXITSTATUS(status) == 0);
    }
    EXPECT_TRUE(is_done);
    EXPECT_EQ(file.read_elsewhere().text, tests::as_text(data));
}

}  // namespace
}  // namespace halcyon::logfs
