// Which call of a process is held first, until when, and what the starter learns of it.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "calls/clocks/node_clock.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/record/interception.hpp"
#include "calls/state/known_files.hpp"
#include "coordinate/gate/gate_layer.hpp"
#include "temporary_folder.hpp"

namespace halcyon::tests {
namespace {

using namespace halcyon::coordinate;
using calls::call_id;
using calls::call_record;

constexpr uint32_t watched_file = 1, other_file = 2, namesake = 3;
constexpr int64_t second_ns = 1'000'000'000;

/// The starter's side: a file as halcyon/delta/gate.py writes it.
class gate_test : public testing::Test {
  protected:
    gate_test() {
        gate_page blank{};
        blank.magic = gate_page::expected_magic;
        blank.bytes = sizeof blank;
        blank.limit_ns = 60 * second_ns;
        calls::node_clock_name(blank.clock, sizeof blank.clock);
        write(blank);
        const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
        page_ = static_cast<gate_page*>(::mmap(nullptr, sizeof(gate_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
        ::close(fd);
    }
    ~gate_test() override { ::munmap(page_, sizeof(gate_page)); }

    template <class Page>
    void write(const Page& page) const {
        std::ofstream(path_, std::ios::binary).write(reinterpret_cast<const char*>(&page), sizeof page);
    }
    void open_at(int64_t ns) { page_->opens_ns = ns; }
    template <class Condition>
    void wait_until(Condition holds) {
        const int64_t until_ns = monotonic_ns() + 20 * second_ns;
        while (!holds()) {
            ASSERT_LT(monotonic_ns(), until_ns) << "it never came to that";
            std::this_thread::yield();
        }
    }

    temporary_folder folder_;
    std::string path_ = (folder_.path() / "gate").string();
    gate_page* page_ = nullptr;
};

struct made_call {
    call_id function = call_id::pwrite;
    uint32_t file = watched_file;
    int64_t argument = 0;
    calls::call_circumstances about{call_id::unknown, true, calls::expected::yes};
    bool named_before = true;  ///< false: as of a call that opens a file
};

/// A process, as far as the layer is concerned.
class held_process {
  public:
    explicit held_process(const std::string& gate, const char* below = "/scratch") {
        char complaint[5000];
        EXPECT_TRUE(layer_.start({gate, below}, complaint, sizeof complaint)) << complaint;
        layer_.on_file({watched_file, "/scratch/data", 4096, 0});
        layer_.on_file({other_file, "/home/data", 4096, 0});
        layer_.on_file({namesake, "/scratchy/data", 4096, 0});
    }

    /// Returns when the function itself ran.
    int64_t call(const made_call& one) {
        call_record record = calls::blank_record(one.function);
        record.argument = one.argument;
        if (one.named_before) record.file = one.file;
        struct asked {
            const made_call* made;
            int64_t ran_ns;
        } state{&one, 0};
        layer_.invoke(
            record,
            calls::next_call(
                [](void* of, call_record& called) {
                    auto& own = *static_cast<asked*>(of);
                    own.ran_ns = monotonic_ns();
                    called.file = own.made->file;
                },
                [](const void* of, const call_record&) { return static_cast<const asked*>(of)->made->about; }, &state));
        EXPECT_EQ(record.wait, 0);
        return state.ran_ns;
    }

  private:
    gate_layer layer_;
};

class first_call : public gate_test {
  protected:
    /// Whether the call arrives at the gate; opens that, so that it goes on.
    bool is_held(const made_call& one, const char* below = "/scratch") {
        open_at(0);
        const uint32_t before = page_->arrived;
        held_process process(path_, below);
        std::atomic<bool> done{false};
        std::thread caller([&] {
            process.call(one);
            done = true;
        });
        wait_until([&] { return done || page_->arrived > before; });
        open_at(monotonic_ns());
        caller.join();
        return page_->arrived > before;
    }
};

TEST_F(first_call, is_held_if_it_moves_data_or_changes_names) {
    for (const call_id function : {call_id::pwrite, call_id::read, call_id::copy_file_range, call_id::fsync,
                                   call_id::fwrite, call_id::mkdir, call_id::unlink, call_id::ftruncate})
        EXPECT_TRUE(is_held({.function = function})) << calls::functions[static_cast<int>(function)].name;
}

TEST_F(first_call, is_not_held_on_files_elsewhere) {
    EXPECT_FALSE(is_held({.file = other_file}));
    EXPECT_FALSE(is_held({.file = namesake}));
    EXPECT_FALSE(is_held({.file = calls::known_files::ignored}));
}

TEST_F(first_call, is_not_held_if_it_only_asks_or_may_not_wait) {
    for (const call_id function : {call_id::fstat, call_id::lseek, call_id::close, call_id::aio_write})
        EXPECT_FALSE(is_held({.function = function})) << calls::functions[static_cast<int>(function)].name;
    EXPECT_FALSE(is_held({.about = {call_id::unknown, false, calls::expected::yes}}));
    EXPECT_FALSE(is_held({.function = call_id::fwrite, .about = {call_id::unknown, true, calls::expected::no}}));
}

TEST_F(first_call, that_opens_a_file_is_held_if_it_may_create_or_empty_it) {
    EXPECT_TRUE(is_held({.function = call_id::open, .argument = O_CREAT | O_WRONLY, .named_before = false}));
    EXPECT_TRUE(is_held({.function = call_id::open, .argument = O_TRUNC | O_WRONLY, .named_before = false}));
    EXPECT_FALSE(is_held({.function = call_id::open, .argument = O_RDWR, .named_before = false}));
    EXPECT_FALSE(is_held({.function = call_id::open, .file = other_file, .argument = O_CREAT, .named_before = false}));
}

TEST_F(first_call, anywhere_is_held_without_a_path_but_not_if_it_reads) {
    EXPECT_TRUE(is_held({.file = other_file}, ""));
    EXPECT_FALSE(is_held({.function = call_id::pread}, ""));
    EXPECT_FALSE(is_held({.file = calls::known_files::ignored}, ""));
}

TEST_F(gate_test, opens_at_its_time_for_all_that_have_arrived) {
    held_process one(path_), another(path_);
    int64_t ran_ns[2] = {};
    std::thread first([&] { ran_ns[0] = one.call({}); });
    std::thread second([&] { ran_ns[1] = another.call({}); });
    wait_until([&] { return page_->arrived == 2; });
    EXPECT_EQ(page_->passed, 0U);
    const int64_t opens_ns = monotonic_ns() + second_ns / 10;
    open_at(opens_ns);
    first.join();
    second.join();
    for (const int64_t ns : ran_ns) EXPECT_GE(ns, opens_ns);
    EXPECT_EQ(page_->passed, 2U);
    EXPECT_GE(page_->first_passed_ns, opens_ns);
    EXPECT_GE(page_->last_passed_ns, page_->first_passed_ns);
    EXPECT_LE(page_->first_arrived_ns, page_->last_arrived_ns);
    EXPECT_EQ(page_->let + page_->late, 0U);
}

TEST_F(gate_test, holds_all_threads_and_counts_their_process_once) {
    held_process process(path_);
    std::atomic<int> begun{0}, done{0};
    std::thread threads[2];
    for (std::thread& one : threads)
        one = std::thread([&] {
            ++begun;
            process.call({});
            ++done;
        });
    wait_until([&] { return page_->arrived == 1 && begun == 2; });
    EXPECT_EQ(done, 0);
    open_at(monotonic_ns());
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(page_->arrived, 1U);
    EXPECT_EQ(page_->passed, 1U);
}

TEST_F(gate_test, holds_nothing_once_it_was_open) {
    held_process process(path_);
    open_at(monotonic_ns());
    process.call({});
    EXPECT_EQ(page_->late, 1U);
    open_at(0);
    process.call({});
    EXPECT_EQ(page_->arrived, 0U);
}

TEST_F(gate_test, lets_a_process_go_after_the_limit) {
    page_->limit_ns = 1'000'000;
    held_process process(path_);
    process.call({});
    EXPECT_EQ(page_->let, 1U);
    EXPECT_EQ(page_->passed, 0U);
}

TEST_F(gate_test, that_is_none_is_refused_with_a_reason) {
    gate_layer layer;
    char complaint[5000];
    EXPECT_FALSE(layer.start({(folder_.path() / "none").string(), "/scratch"}, complaint, sizeof complaint));
    EXPECT_NE(std::string(complaint).find("it cannot be opened, or is no gate"), std::string::npos) << complaint;
    std::strcpy(page_->clock, "another boot");
    EXPECT_FALSE(layer.start({path_, "/scratch"}, complaint, sizeof complaint));
    EXPECT_NE(std::string(complaint).find("of another machine"), std::string::npos) << complaint;
    write(uint64_t{7});
    EXPECT_FALSE(layer.start({path_, "/scratch"}, complaint, sizeof complaint));
    EXPECT_FALSE(layer.start({"", "/scratch"}, complaint, sizeof complaint));
}

}  // namespace
}  // namespace halcyon::tests
