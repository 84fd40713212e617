// The recorder's own thread, in which no library has set up thread-local variables, uses none.
#include "calls/state/own_thread.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>

#include "calls/clocks/ticks.hpp"
#include "observe/trace/record_buffer.hpp"
#include "observe/trace/trace_file.hpp"
#include "observe/trace/trace_reader.hpp"
#include "temporary_folder.hpp"

#ifndef HALCYON_THREAD_BY_LIBRARY
namespace halcyon::observe::trace {
namespace {

bool has_ended(const calls::own_thread& thread) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (thread.runs() && std::chrono::steady_clock::now() < limit) sched_yield();
    return !thread.runs();
}

void forbid(std::span<char> memory) {
    ASSERT_FALSE(memory.empty());
    ASSERT_EQ(mprotect(memory.data(), memory.size(), PROT_NONE), 0);
}

TEST(own_thread, finds_zeros_in_thread_local_variables_and_leaves_its_stack_alone) {
    calls::own_thread thread;
    static int found = -1;
    ASSERT_EQ(thread.start(
                  [](void*) {
                      found = errno;
                      errno = 7;
                  },
                  nullptr),
              calls::own_thread::answer::started);
    ASSERT_TRUE(has_ended(thread));
    EXPECT_EQ(found, 0);
    EXPECT_TRUE(std::ranges::any_of(thread.thread_local_memory(), [](char byte) { return byte == 7; }));
}

// What the next test relies on.
TEST(own_thread, is_caught_where_it_uses_them) {
    EXPECT_DEATH(
        {
            calls::own_thread thread;
            thread.start([](void*) {}, nullptr);
            has_ended(thread);
            forbid(thread.thread_local_memory());
            thread.start([](void*) { errno = 7; }, nullptr);
            has_ended(thread);
        },
        "");
}

TEST(own_thread, codes_chunks_without_them) {
    const tests::temporary_folder folder;
    auto file = std::make_unique<trace_file>();
    auto buffer = std::make_unique<record_buffer>();
    ASSERT_TRUE(file->create(folder.file(""), "own") && file->publish());
    const process_section process{1, 1, anchor_now(), 2, 0};
    file->append(section_kind::process, bytes_of(process), std::string("n\0p\0c\0b\0", 8));
    int error = 0;
    ASSERT_TRUE(buffer->create(folder.file("own.ring").c_str(), 4 << 20, *file, 2, error));
    const function_section section{1, static_cast<uint8_t>(calls::level::posix),
                                   static_cast<uint8_t>(calls::kind::write), 0};
    ASSERT_TRUE(buffer->note(note_kind::function, bytes_of(section), "write"));
    const auto append = [&](int64_t chunks) {
        for (int64_t i = 0; i < chunks * chunk_records; ++i)
            buffer->append({calls::ticks() | 2, 2, 0, i * 8, 8, 8, 8, 0, 1, 0, 1, 0, 1, 0, 0});
    };
    append(2);  // the first one is full, and starts the thread
    ASSERT_TRUE(has_ended(buffer->coder()));
    forbid(buffer->coder().thread_local_memory());
    append(8);
    ASSERT_TRUE(has_ended(buffer->coder()));
    buffer->flush();
    file->abandon();
    buffer->abandon();
    const trace_reader reader(folder.file("own.trace"));
    size_t records = 0;
    for (size_t i = 0; i < reader.chunk_count(); ++i) records += reader.chunk(i).size();
    EXPECT_EQ(records, 10 * size_t{chunk_records});
}

}  // namespace
}  // namespace halcyon::observe::trace
#endif
