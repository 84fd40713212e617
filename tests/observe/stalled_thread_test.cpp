// A thread is stopped at every step of appending a record, for as long as others need to use each chunk of the ring
// several times; whatever the step, each record comes out once, whole, or is counted.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/record/call_table.hpp"
#include "calls/state/patience.hpp"
#include "observe/trace/record_buffer.hpp"
#include "observe/trace/section_coding.hpp"
#include "observe/trace/trace_file.hpp"
#include "observe/trace/trace_reader.hpp"
#include "temporary_folder.hpp"

namespace halcyon::observe::trace {
namespace {

constexpr int64_t offset_of_victim = int64_t{1} << 40;
constexpr size_t chunks = 4;
constexpr int64_t others = int64_t{6} * chunk_records;  // all chunks, and some again
constexpr size_t buffer_bytes = chunks * chunk_records * sizeof(calls::call_record);

/// What the stopped process and the one that stops it tell each other.
struct told {
    std::atomic<int> victim;
    std::atomic<bool> may_go_on;
    std::atomic<bool> others_are_done;
    std::atomic<bool> is_flushed;
    std::atomic<bool> victim_is_done;
};

/// False when it does not come true in a time in which it would on any machine.
bool comes_true(const std::function<bool()>& condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit) return false;
        sched_yield();
    }
    return true;
}

int64_t start_now() {
    return calls::ticks() | 2;
}

calls::call_record record_at(int64_t offset, int64_t start = start_now()) {
    return {start, 2, 0, offset, 1, 1, 1, 0, 1, 0, 1, 0, static_cast<uint16_t>(calls::call_id::pwrite), 0, 0};
}

enum class flushed { after, meanwhile, never };  ///< never: it is killed

/// The process whose thread is stopped: `before` records, then the victim's, and meanwhile those of others.
class subject {
  public:
    subject(const tests::temporary_folder& folder, told& shared, int64_t before, flushed when)
        : folder_(folder), shared_(shared), before_(before), when_(when) {}

    [[noreturn]] void run() {
        if (!begin()) _exit(2);
        append_many(0, before_);
        std::thread victim([&] {
            ptrace(PTRACE_TRACEME, 0, 0, 0);
            const calls::call_record record = record_at(offset_of_victim, before_first_anchor_);
            shared_.victim = static_cast<int>(syscall(SYS_gettid));
            syscall(SYS_tgkill, getpid(), shared_.victim.load(), SIGSTOP);
            buffer_->append(record);
            shared_.victim_is_done = true;
        });
        if (!comes_true([&] { return shared_.may_go_on.load(); })) _exit(3);
        append_many(before_, before_ + others);
        if (when_ == flushed::meanwhile) end();
        shared_.others_are_done = true;
        victim.join();
        if (when_ == flushed::after) end();
        _exit(0);
    }

  private:
    bool begin() {
        int error = 0;
        if (!file_->create(folder_.file(""), "stalled") || !file_->publish()) return false;
        const process_section process{1, 1, anchor_now(), 2, 0};
        file_->append(section_kind::process, bytes_of(process), std::string("n\0p\0c\0b\0", 8));
        before_first_anchor_ = start_now();
        if (!buffer_->create(folder_.file("stalled.ring").c_str(), buffer_bytes, *file_, 2, error)) return false;
        const auto& entry = calls::entry_of(static_cast<uint16_t>(calls::call_id::pwrite));
        const function_section section{static_cast<uint16_t>(calls::call_id::pwrite), static_cast<uint8_t>(entry.at),
                                       static_cast<uint8_t>(entry.does), 0};
        return buffer_->note(note_kind::function, bytes_of(section), entry.name);
    }
    void append_many(int64_t from, int64_t to) {
        for (int64_t offset = from; offset < to; ++offset) buffer_->append(record_at(offset));
    }
    void end() {
        buffer_->flush();
        const end_section end{0, 0, buffer_->lost(), anchor_now()};
        file_->append(section_kind::end, bytes_of(end));
        shared_.is_flushed = true;
    }

    const tests::temporary_folder& folder_;
    told& shared_;
    int64_t before_;
    flushed when_;
    /// The victim's: its append takes the same instructions every time, and never refreshes the anchor.
    int64_t before_first_anchor_ = 0;
    std::unique_ptr<trace_file> file_ = std::make_unique<trace_file>();
    std::unique_ptr<record_buffer> buffer_ = std::make_unique<record_buffer>();
};

/// What is in the trace of such a process.
struct outcome {
    bool stopped = false;  ///< before the victim's record was appended
    int64_t steps = 0;     ///< that it made until it was stopped, or done
    int64_t victims = 0;
    int64_t kept = 0;  ///< different records of others
    int64_t copies = 0;
    int64_t lost = 0;
    bool may_have_given_up = false;  ///< others, since it took as long as they wait for a thread that has no core
};

class stalled_thread : public testing::Test {
  protected:
    void SetUp() override {
        if (!may_trace()) GTEST_SKIP() << "ptrace is not allowed here";
        void* at = mmap(nullptr, sizeof(told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(at, MAP_FAILED);
        shared_ = new (at) told{};
    }
    void TearDown() override {
        if (shared_ != nullptr) munmap(shared_, sizeof(told));
    }

    static bool may_trace() {
        const pid_t child = fork();
        if (child == 0) _exit(ptrace(PTRACE_TRACEME, 0, 0, 0) == 0 ? 0 : 1);
        int status = 1;
        return waitpid(child, &status, 0) == child && status == 0;
    }

    /// Stops the thread after `steps` instructions from where it waits, until all others are done.
    outcome stopped_after(int64_t steps, int64_t before, flushed when) {
        const tests::temporary_folder folder;
        new (shared_) told{};
        const pid_t child = fork();
        if (child == 0) subject(folder, *shared_, before, when).run();
        outcome found;
        EXPECT_TRUE(comes_true([&] { return shared_->victim.load() != 0; }));
        const pid_t victim = shared_->victim;
        int status = 0;
        EXPECT_EQ(waitpid(victim, &status, __WALL), victim);
        for (; found.steps < steps && !shared_->victim_is_done && !HasFailure(); ++found.steps) {
            EXPECT_EQ(ptrace(PTRACE_SINGLESTEP, victim, 0, 0), 0);
            EXPECT_EQ(waitpid(victim, &status, __WALL), victim);
        }
        found.stopped = !shared_->victim_is_done;
        shared_->may_go_on = true;
        const int64_t go_on_ns = monotonic_ns();
        EXPECT_TRUE(comes_true([&] { return shared_->others_are_done.load(); }));
        found.may_have_given_up = monotonic_ns() - go_on_ns >= calls::patience::longest_wait_ns;
        ptrace(PTRACE_DETACH, victim, 0, 0);
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        read(folder.file("stalled.trace"), found);
        return found;
    }

    /// The number of instructions after which it is done.
    int64_t steps_until_done(int64_t before) { return stopped_after(INT64_MAX, before, flushed::after).steps; }

    static void read(const std::string& path, outcome& found) {
        const trace_reader reader(path);
        std::vector<int64_t> offsets;
        for (size_t i = 0; i < reader.chunk_count(); ++i) {
            for (const calls::call_record& record : reader.chunk(i)) offsets.push_back(record.offset);
        }
        found.lost = static_cast<int64_t>(reader.lost);
        found.victims = std::ranges::count(offsets, offset_of_victim);
        std::erase(offsets, offset_of_victim);
        found.copies = static_cast<int64_t>(offsets.size());
        std::ranges::sort(offsets);
        offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
        found.kept = static_cast<int64_t>(offsets.size());
    }

    static void expect_each_once(const outcome& found, int64_t before) {
        // Where the thread stands still with the coder's lock, others give up waiting for it, and are counted.
        EXPECT_EQ(found.kept + found.lost, before + others);
        EXPECT_EQ(found.copies, found.kept);
        EXPECT_EQ(found.victims, 1);
    }

    told* shared_ = nullptr;
};

TEST_F(stalled_thread, writes_into_no_chunk_but_its_own_wherever_it_is_stopped) {
    constexpr int64_t before = 10;
    outcome found{.stopped = true};
    for (int64_t step = 1; found.stopped && !HasFailure(); ++step) {
        SCOPED_TRACE(step);
        found = stopped_after(step, before, flushed::after);
        expect_each_once(found, before);
    }
}

TEST_F(stalled_thread, may_hold_the_last_slot_of_a_chunk) {
    constexpr int64_t before = chunk_records - 1;
    const int64_t all = steps_until_done(before);
    for (int64_t step = 1; step < all && !HasFailure(); step += 3) {
        SCOPED_TRACE(step);
        expect_each_once(stopped_after(step, before, flushed::after), before);
    }
}

TEST_F(stalled_thread, may_be_the_one_that_is_to_replace_a_full_chunk) {
    constexpr int64_t before = chunk_records;
    const int64_t all = steps_until_done(before);
    constexpr int64_t stops = 8;  // others wait for it for seconds
    for (int64_t stop = 0; stop < stops && !HasFailure(); ++stop) {
        SCOPED_TRACE(stop);
        expect_each_once(stopped_after(1 + all * stop / stops, before, flushed::after), before);
    }
}

TEST_F(stalled_thread, has_its_record_in_the_ring_of_a_process_that_is_killed) {
    constexpr int64_t before = 10;
    outcome found{.stopped = true};
    for (int64_t step = 1; found.stopped && !HasFailure(); step += 3) {
        SCOPED_TRACE(step);
        found = stopped_after(step, before, flushed::never);
        expect_each_once(found, before);
    }
}

TEST_F(stalled_thread, that_never_comes_back_is_counted) {
    constexpr int64_t before = 10;
    int64_t missing = 0;
    outcome found{.stopped = true};
    for (int64_t step = 1; found.stopped && !HasFailure(); step += 3) {
        SCOPED_TRACE(step);
        found = stopped_after(step, before, flushed::meanwhile);
        EXPECT_EQ(found.copies, found.kept);
        // Where it had no slot yet, its record is appended after the end, to the trace.
        EXPECT_EQ(found.kept + found.victims + found.lost, before + others + 1);
        if (!found.may_have_given_up) {
            EXPECT_EQ(found.kept, before + others);
            missing += found.lost;
        }
    }
    EXPECT_GT(missing, 0);
}

}  // namespace
}  // namespace halcyon::observe::trace
