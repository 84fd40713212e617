// The walk over unwind tables against the C library's own (backtrace of <execinfo.h>).
#include "calls/stacks/frame_rule.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "calls/stacks/call_stack.hpp"
#include "calls/stacks/loaded_object.hpp"

namespace halcyon::calls {
namespace {

struct both {
    call_stack ours;
    std::vector<uintptr_t> theirs;
};

/// Without the function itself, whose place differs in the two.
[[gnu::noinline]] both walk_both() {
    both found{};
    void* frames[call_stack::most];
    walk_call_stack(found.ours);
    const int count = backtrace(frames, call_stack::most);
    for (int i = 1; i < count; ++i) found.theirs.push_back(reinterpret_cast<uintptr_t>(frames[i]));
    return found;
}

void expect_the_same(const both& found) {
    const auto* begin = found.ours.frames;
    const auto* end = begin + found.ours.count;
    ASSERT_GE(found.theirs.size(), 4U);
    const auto* from = std::find(begin, end, found.theirs[0]);
    ASSERT_NE(from, end);
    // The C library's ends with a null, or at the same place.
    const auto count = static_cast<size_t>(end - from);
    ASSERT_LE(count, found.theirs.size());
    EXPECT_LE(found.theirs.size() - count, 1U);
    EXPECT_TRUE(std::equal(from, end, found.theirs.begin()));
}

TEST(frame_rule_test, a_walk_passes_what_the_c_librarys_passes) {
    expect_the_same(walk_both());
}

int compared = 0;
int compare(const void* a, const void* b) {
    if (compared++ == 0) expect_the_same(walk_both());
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

TEST(frame_rule_test, a_walk_passes_functions_of_libraries) {
    int numbers[] = {3, 1, 2};
    compared = 0;
    qsort(numbers, 3, sizeof numbers[0], compare);
    EXPECT_GT(compared, 0);
}

[[gnu::noinline]] void align_and_walk(size_t bytes) {
    alignas(128) char room[512];
    char* volatile variable = static_cast<char*>(__builtin_alloca(bytes));
    variable[0] = room[0] = 'a';
    expect_the_same(walk_both());
    asm volatile("" : : "r"(room) : "memory");
}

TEST(frame_rule_test, a_walk_passes_frames_that_the_compiler_aligns) {
    align_and_walk(100);
}

TEST(frame_rule_test, a_place_without_tables_is_an_end) {
    EXPECT_EQ(read_frame_rule(reinterpret_cast<uintptr_t>(&compared)).from, frame_rule::origin::end);
    EXPECT_EQ(read_frame_rule(16).from, frame_rule::origin::end);
    EXPECT_EQ(read_frame_rule(16, nullptr).from, frame_rule::origin::end);
}

TEST(frame_rule_test, an_object_is_found_by_an_address_within) {
    loaded_object object{};
    ASSERT_TRUE(find_loaded_object(reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "qsort")), object));
    EXPECT_EQ(base_name_of(object), "libc.so.6");
    EXPECT_NE(object.frames, nullptr);
    EXPECT_FALSE(find_loaded_object(16, object));
}

}  // namespace
}  // namespace halcyon::calls
