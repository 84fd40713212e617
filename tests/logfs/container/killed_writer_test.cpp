#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <new>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/writing/writer.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

/// What a writer did, in its order.
struct operation {
    enum class kind : uint8_t {
        write,
        copy,
        truncate,
        reach,
        erase,
        epoch,
        settle,
        rest,
        sync,
        close
    } what = kind::write;
    int64_t offset = 0;
    int64_t length = 0;
};

/// What a killed process leaves behind for its parent.
struct shared_state {
    std::atomic<uint32_t> acknowledged;  ///< operations that returned
    std::atomic<uint32_t> began;         ///< the container was created
    char last_step[64];
};

std::vector<operation> operations(uint64_t seed, int count) {
    std::mt19937_64 random(seed);
    std::vector<operation> all;
    int64_t offset = 0;
    for (int i = 0; i < count; ++i) {
        using kind = operation::kind;
        const uint64_t what = random() % 40;
        if (what < 20) {
            offset += 300;  // a pattern
            all.push_back({kind::write, offset, 100});
        } else if (what < 30) {
            all.push_back(
                {kind::write, static_cast<int64_t>(random() % 9000), 1 + static_cast<int64_t>(random() % 200)});
        } else if (what < 33) {
            all.push_back({kind::sync, 0, 0});
        } else if (what < 35) {
            all.push_back({kind::truncate, static_cast<int64_t>(random() % 9000), 0});
        } else if (what < 36) {
            all.push_back({kind::reach, static_cast<int64_t>(random() % 9000), 0});
        } else if (what < 37) {
            all.push_back({kind::erase, static_cast<int64_t>(random() % 9000), 500});
        } else if (what < 38) {
            all.push_back({kind::epoch, 0, 0});
        } else {
            all.push_back({kind::settle, 0, 0});
        }
        if (i % 7 == 6) all.push_back({kind::copy, static_cast<int64_t>(random() % 9000), 150});
        // And goes on.
        if (i % 20 == 19) all.push_back({kind::rest, 0, 0});
    }
    all.push_back({operation::kind::close, 0, 0});
    return all;
}

/// Each a record of its own.
std::vector<operation> random_writes(int count) {
    std::mt19937_64 random(1);
    std::vector<operation> all;
    for (int i = 0; i < count; ++i)
        all.push_back(
            {operation::kind::write, static_cast<int64_t>(random() % 20000), 1 + static_cast<int64_t>(random() % 200)});
    return all;
}

/// Of operation `number`.
tests::bytes data_of(uint32_t number, int64_t length) {
    std::minstd_rand random(number + 1);
    tests::bytes data(static_cast<size_t>(length));
    for (std::byte& each : data) each = static_cast<std::byte>((random() >> 8 & 0xff) | 1);
    return data;
}

/// By the kernel, from a file beside the container; where the writer can only write, so.
bool copy(writer& to, const std::string& path, const operation& what, const tests::bytes& data) {
    const int from = ::open((path + ".source").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    bool is_done = ::write(from, data.data(), data.size()) == what.length;
    int64_t at = 0;
    const auto copied = to.copy_in(what.offset, what.length, from, &at);
    if (copied.ok() && *copied == 0)
        is_done = is_done && to.write(what.offset, data).ok();
    else
        is_done = is_done && copied.ok() && *copied == what.length;
    ::close(from);
    return is_done;
}

bool perform(writer& to, const std::string& path, const operation& what, uint32_t number) {
    using kind = operation::kind;
    switch (what.what) {
        case kind::write: {
            const auto done = to.write(what.offset, data_of(number, what.length));
            return done.ok() && *done == what.length;
        }
        case kind::copy:
            return copy(to, path, what, data_of(number, what.length));
        case kind::truncate:
            return to.truncate(what.offset).ok();
        case kind::reach:
            return to.reach(what.offset).ok();
        case kind::erase:
            return to.erase(what.offset, what.length).ok();
        case kind::epoch:
            return to.raise_epoch(to.propose_epoch()).ok();
        case kind::settle:
            return to.settle().ok();
        case kind::rest:
            return to.rest().ok();
        case kind::sync:
            return to.sync().ok();
        case kind::close:
            return to.close().ok();
    }
    return false;
}

void perform(tests::plain_file& on, const operation& what, uint32_t number) {
    using kind = operation::kind;
    if (what.what == kind::write || what.what == kind::copy) on.write(what.offset, data_of(number, what.length));
    if (what.what == kind::truncate) on.truncate(what.offset);
    if (what.what == kind::reach) on.reach(what.offset);
    if (what.what == kind::erase) on.erase(what.offset, what.length);
}

/// Whether the process dies behind a step: the moment before or behind a call, or one that the writer names.
using death = std::function<bool(std::string_view step)>;

/// In a child: all of it, or as far as `dies_behind` lets it.
[[noreturn]] void write_and_die(const std::string& path, const std::vector<operation>& all, const writer_options& how,
                                const death& dies_behind, shared_state& state) {
    tests::watched_files calls;
    const auto step = [&](std::string_view name) {
        if (!dies_behind(name)) return;
        name.copy(state.last_step, sizeof state.last_step - 1);
        ::kill(::getpid(), SIGKILL);
    };
    calls.before = [&](std::string_view call, int64_t) {
        step(call);
        return 0;
    };
    calls.behind = step;
    container in(calls);
    if (!in.create(path, 0644).ok()) _exit(1);
    state.began = 1;
    writer to(in);
    if (!to.open(tests::identity(1), how).ok()) _exit(2);
    for (uint32_t i = 0; i < all.size(); ++i) {
        if (!perform(to, path, all[i], i)) _exit(3);
        state.acknowledged = i + 1;
    }
    _exit(0);
}

class killed : public ::testing::Test {
  protected:
    void SetUp() override {
        void* const shared =
            mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(shared, MAP_FAILED);
        state_ = new (shared) shared_state{};
    }
    void TearDown() override { munmap(state_, sizeof *state_); }

    /// Lets a child do it all, and looks at what it left. How the child ended.
    int run(const std::vector<operation>& all, const writer_options& how, const death& dies_behind) {
        const halcyon::tests::memory_folder folder;
        new (state_) shared_state{};
        const pid_t child = fork();
        if (child == 0) write_and_die(folder.file("file"), all, how, dies_behind, *state_);
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL, SIGKILL);
        EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : 0, 0);
        expect_acknowledged(folder.file("file"), all);
        return status;
    }

    /// All that was acknowledged is there, and of the operation that was under way all or nothing.
    void expect_acknowledged(const std::string& path, const std::vector<operation>& all) const {
        const uint32_t acknowledged = state_->acknowledged;
        container in;
        const auto opened = in.open(path);
        if (state_->began == 0) {
            // Whole, or not there.
            ASSERT_TRUE(opened.ok() || opened.why().system_errno == ENOENT) << opened.why().message;
            return;
        }
        ASSERT_TRUE(opened.ok()) << opened.why().message;
        reader from(in, tests::beside_writers());
        const auto read = from.reload();
        ASSERT_TRUE(read.ok()) << read.why().message;
        const tests::bytes contents = tests::all_of(from);
        tests::plain_file expected;
        for (uint32_t i = 0; i < acknowledged; ++i) perform(expected, all[i], i);
        if (contents != expected.contents() && acknowledged < all.size())
            perform(expected, all[acknowledged], acknowledged);
        ASSERT_EQ(tests::difference(contents, expected.contents()), "none") << acknowledged << " were acknowledged";
        EXPECT_EQ(from.torn_writers(), 0U);
        const auto checked = check(in);
        ASSERT_TRUE(checked.ok());
        EXPECT_TRUE(checked->is_sound());
        EXPECT_EQ(checked->count(check_finding::weight::loss), 0U);
    }

    shared_state* state_ = nullptr;
};

class killed_writer : public killed, public ::testing::WithParamInterface<std::tuple<bool, uint64_t>> {};
INSTANTIATE_TEST_SUITE_P(
    , killed_writer, ::testing::Combine(::testing::Bool(), ::testing::Values(uint64_t{1}, uint64_t{2}, uint64_t{3})),
    [](const auto& info) {
        return std::string(std::get<0>(info.param) ? "mapped_" : "written_") + std::to_string(std::get<1>(info.param));
    });

TEST_P(killed_writer, loses_nothing_that_was_acknowledged_at_any_step) {
    const auto [may_map, seed] = GetParam();
    const auto all = operations(seed, 50);
    writer_options how;
    how.may_map_index = may_map;
    how.has_data_checks = seed == 2;
    std::set<std::string> steps;
    for (int last = 1;; ++last) {
        int step = 0;
        const int status = run(all, how, [&](std::string_view) { return ++step >= last; });
        ASSERT_FALSE(HasFailure()) << "killed behind step " << last << ", " << state_->last_step;
        if (WIFEXITED(status)) break;
        steps.insert(state_->last_step);
    }
    EXPECT_EQ(state_->acknowledged, all.size());
    for (const char* const step : {"write", "sync", "reserve", "slot begun", "slot", "published", "record", "commit",
                                   "committed", "closed", "set_size", "rename", "make_directory", "data"})
        EXPECT_TRUE(steps.contains(step)) << step;
    EXPECT_NE(steps.contains("copy"), how.has_data_checks) << "sums are made of what passes through this process";
}

class killed_at_an_end : public killed, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(, killed_at_an_end, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "mapped" : "written"; });

/// Where a block is full, where room for more is reserved, and where the window of the index moves: at each step there.
TEST_P(killed_at_an_end, of_a_block_or_window_a_writer_loses_nothing_that_was_acknowledged) {
    const auto all = random_writes(7000);
    writer_options how;
    how.may_map_index = GetParam();
    how.has_data_checks = true;
    struct place {
        std::string step;
        int nth;
    };
    // Calls count twice, before and behind. The first to be mapped are the head and the first window.
    std::vector<place> places{{"full block", 1}, {"full block", 15}, {"reserve", 3}, {"reserve", 9}};
    if (GetParam()) {
        places.push_back({"map", 5});
        places.push_back({"unmap", 1});
    }
    for (const place& begin : places) {
        for (int further = 0; further < 9; ++further) {
            int seen = 0;
            int behind = -1;
            const int status = run(all, how, [&](std::string_view step) {
                if (behind < 0 && step == begin.step && ++seen == begin.nth) behind = 0;
                return behind >= 0 && behind++ == further;
            });
            ASSERT_FALSE(HasFailure()) << further << " steps behind " << begin.step << " " << begin.nth;
            ASSERT_TRUE(WIFSIGNALED(status)) << begin.step << " " << begin.nth;
        }
    }
}

/// Over several blocks, killed at a random moment by another process.
TEST(killed_at_any_moment, a_writer_loses_nothing_that_was_acknowledged) {
    void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto& acknowledged = *new (shared) std::atomic<uint32_t>(0);
    std::mt19937_64 random(7);
    for (int round = 0; round < 60; ++round) {
        const halcyon::tests::memory_folder folder;
        acknowledged = 0;
        container in;
        in.create(folder.file("file"), 0644).value();
        const auto offset_of = [](uint32_t i) {
            return static_cast<int64_t>(i % 3 == 0 ? i * 2654435761U % 100000 : i * 16);
        };
        const pid_t child = fork();
        if (child == 0) {
            writer to(in);
            to.open(tests::identity(1)).value();
            for (uint32_t i = 0;; ++i) {
                const std::array<uint32_t, 2> data{i + 1, ~i};
                to.write(offset_of(i), std::as_bytes(std::span(data))).value();
                acknowledged.store(i + 1, std::memory_order_release);
            }
        }
        const uint32_t wanted = 1 + static_cast<uint32_t>(random() % 5000);
        while (acknowledged.load(std::memory_order_acquire) < wanted) sched_yield();
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        const uint32_t last = acknowledged;
        reader from(in, tests::beside_writers());
        ASSERT_TRUE(from.reload().ok());
        tests::plain_file expected;
        for (uint32_t i = 0; i < last; ++i) {
            const std::array<uint32_t, 2> data{i + 1, ~i};
            expected.write(offset_of(i), std::as_bytes(std::span(data)));
        }
        const auto contents = tests::all_of(from);
        if (contents != expected.contents()) {
            const std::array<uint32_t, 2> data{last + 1, ~last};
            expected.write(offset_of(last), std::as_bytes(std::span(data)));
        }
        ASSERT_EQ(tests::difference(contents, expected.contents()), "none") << last;
    }
    munmap(shared, 4096);
}

/// At a random moment from its creation on, so that some are killed while they begin: nobody else is kept from reading.
TEST(killed_at_any_moment, a_writer_that_begins_leaves_what_others_can_read) {
    const halcyon::tests::memory_folder folder;
    container in;
    in.create(folder.file("file"), 0644, 1).value();
    writer other(in);
    other.open(tests::identity(999999)).value();
    other.write(0, tests::as_bytes("here")).value();
    std::mt19937_64 random(8);
    for (int round = 0; round < 300; ++round) {
        int ready[2];
        ASSERT_EQ(pipe(ready), 0);
        const pid_t child = fork();
        if (child == 0) {
            if (::write(ready[1], "x", 1) != 1) _exit(2);
            for (int64_t i = 0;; ++i) {
                writer to(in);
                if (!to.open(tests::identity(round * 100000 + i)).ok()) _exit(1);
                static_cast<void>(to.close());
            }
        }
        char byte = 0;
        ASSERT_EQ(::read(ready[0], &byte, 1), 1);
        for (uint64_t spin = random() % 200000; spin > 0; --spin) std::atomic_signal_fence(std::memory_order_seq_cst);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        ::close(ready[0]);
        ::close(ready[1]);
        reader from(in, tests::beside_writers());
        const auto read = from.reload();
        ASSERT_TRUE(read.ok()) << read.why().message;
        ASSERT_EQ(tests::as_text(tests::all_of(from)), "here");
    }
}

}  // namespace
}  // namespace halcyon::logfs
