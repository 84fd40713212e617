// Stacks that come again are known by their words: the same hash as a walk gives them, and never another stack's.
#include "calls/stacks/walked_stacks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "calls/stacks/call_stack.hpp"

namespace halcyon::calls {
namespace {

/// Words that stand for a stack; another one at the same place is in another state.
struct stand_in {
    std::array<uintptr_t, 128> words{};
    uintptr_t bp = 0;
    uint32_t state = ++states;
    static inline uint32_t states = 0;

    [[nodiscard]] uintptr_t address(size_t i) const { return reinterpret_cast<uintptr_t>(&words[i]); }
    [[nodiscard]] walked_stacks::notes begin() const { return {address(0), state}; }
    [[nodiscard]] uint64_t found() const { return walked_stacks::hash_of(address(0), bp, state); }
    void walk(std::initializer_list<size_t> read, uint64_t hash) const {
        walked_stacks::notes notes = begin();
        for (const size_t i : read) notes.word(address(i), words[i]);
        notes.keep(hash);
    }
};

/// Known before all others.
const stand_in early;
const bool walked_early = (early.walk({1, 2}, 7), true);

TEST(walked_stacks, are_known_by_the_words_that_were_read_and_by_no_others) {
    stand_in stack;
    EXPECT_EQ(stack.found(), 0U);
    stack.walk({3, 10, 11}, 7);
    EXPECT_EQ(stack.found(), 7U);
    stack.words[5] = 1;
    EXPECT_EQ(stack.found(), 7U);
    stack.words[10] = 1;
    EXPECT_EQ(stack.found(), 0U);
    stack.words[10] = 0;
    EXPECT_EQ(stack.found(), 7U);
    ++stack.state;
    EXPECT_EQ(stack.found(), 0U);
    EXPECT_EQ(stand_in().found(), 0U);
}

TEST(walked_stacks, branch_where_they_differ) {
    stand_in stack;
    stack.walk({3, 10, 11}, 7);
    stack.words[10] = 1;
    stack.walk({3, 10, 20, 21}, 8);
    stack.words[21] = 2;
    stack.walk({3, 10, 20, 21}, 9);
    EXPECT_EQ(stack.found(), 9U);
    stack.words[21] = 0;
    EXPECT_EQ(stack.found(), 8U);
    stack.words[10] = 0;
    EXPECT_EQ(stack.found(), 7U);
    stack.walk({3, 10, 11}, 7);  // known as a whole
    EXPECT_EQ(stack.found(), 7U);
}

TEST(walked_stacks, the_frame_pointer_counts_where_it_was_used) {
    stand_in stack;
    stack.bp = 5;
    walked_stacks::notes notes = stack.begin();
    notes.word(stack.address(1), 0);
    notes.frame_pointer(5);
    notes.word(stack.address(2), 0);
    notes.keep(7);
    EXPECT_EQ(stack.found(), 7U);
    stack.bp = 6;
    EXPECT_EQ(stack.found(), 0U);
}

TEST(walked_stacks, what_cannot_be_kept_is_walked_again) {
    stand_in stack;
    walked_stacks::notes odd = stack.begin();
    odd.word(stack.address(1) + 1, 0);
    odd.keep(7);
    EXPECT_EQ(stack.found(), 0U);
    walked_stacks::notes longer = stack.begin();
    for (size_t i = 0; i < 81; ++i) longer.word(stack.address(i), 0);
    longer.keep(7);
    EXPECT_EQ(stack.found(), 0U);
    for (uintptr_t i = 1; i <= 100; ++i) {
        stack.words[2] = i;
        stack.walk({1, 2}, i);
    }
    stack.words[2] = 40;
    EXPECT_EQ(stack.found(), 40U);
    stack.words[2] = 100;
    EXPECT_EQ(stack.found(), 0U);
}

/// A stack of its own for each thread, and ways that all of them find at once on their own copy of one.
TEST(walked_stacks, threads_add_at_once) {
    constexpr unsigned threads = 4;
    constexpr uintptr_t ways = 40;
    for (int round = 0; round < 50; ++round) {
        stand_in shared;
        std::atomic<unsigned> ready{0};
        std::vector<std::thread> all;
        for (unsigned t = 0; t < threads; ++t) {
            all.emplace_back([&] {
                ++ready;
                while (ready < threads) continue;
                for (uintptr_t i = 1; i <= ways; ++i) {
                    walked_stacks::notes notes = shared.begin();
                    notes.word(shared.address(1), i / 7);
                    notes.word(shared.address(2), i);
                    notes.keep(i);
                }
            });
        }
        for (std::thread& one : all) one.join();
        for (uintptr_t i = 1; i <= ways; ++i) {
            shared.words[1] = i / 7;
            shared.words[2] = i;
            ASSERT_EQ(shared.found(), i) << "round " << round;
        }
    }
}

// --- of real calls ---

/// By their frames, as a whole walk told them.
using told = std::map<std::vector<uintptr_t>, uint64_t>;

std::mt19937 chance(1);
told stacks;
int varies = 0;  // what functions keep in registers

[[gnu::noinline]] void compare_here() {
    call_stack whole;
    walk_call_stack(whole);
    ASSERT_GE(whole.count, 3U);
    const uint64_t hash = call_stack_hash();
    // Without the places of the calls in this function, and in those that it calls.
    const std::vector<uintptr_t> frames(whole.frames + 2, whole.frames + whole.count);
    const auto [known, fresh] = stacks.emplace(frames, hash);
    EXPECT_EQ(known->second, hash);
}

void go_on(int depth);

template <int kind>
[[gnu::noinline]] void frame_of_kind(int depth) {
    go_on(depth - 1);
    asm volatile("" ::: "memory");
}
/// Its frame is found by the frame pointer, and is of another length each time.
template <>
[[gnu::noinline]] void frame_of_kind<1>(int depth) {
    char* volatile room = static_cast<char*>(__builtin_alloca(static_cast<size_t>(16 + 64 * (chance() % 3))));
    room[0] = 'a';
    go_on(depth - 1);
    asm volatile("" ::: "memory");
}
/// Its frame is aligned.
template <>
[[gnu::noinline]] void frame_of_kind<2>(int depth) {
    alignas(128) char room[256];
    char* volatile more = static_cast<char*>(__builtin_alloca(static_cast<size_t>(16 + 64 * (chance() % 3))));
    more[0] = room[0] = 'a';
    go_on(depth - 1);
    asm volatile("" : : "r"(room) : "memory");
}
/// It keeps data in the registers that functions save, and those behind it save them.
template <>
[[gnu::noinline]] void frame_of_kind<3>(int depth) {
    const int a = ++varies, b = a * 7, c = a * 11, d = a * 13, e = a * 17, f = a * 19;
    go_on(depth - 1);
    asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f) : "memory");
}

[[gnu::noinline]] void go_on(int depth) {
    if (depth <= 0) {
        compare_here();
    } else {
        switch (chance() % 6) {
            case 0:
                frame_of_kind<1>(depth);
                break;
            case 1:
                frame_of_kind<2>(depth);
                break;
            case 2:
                frame_of_kind<3>(depth);
                break;
            case 3:
                frame_of_kind<4>(depth);
                break;
            default:
                frame_of_kind<5>(depth);
        }
    }
    asm volatile("" ::: "memory");
}

TEST(walked_stacks, real_stacks_have_one_hash_each) {
    for (int i = 0; i < 200'000; ++i) {
        go_on(static_cast<int>(chance() % 8));
        ASSERT_FALSE(HasFailure()) << "stack " << i;
    }
    std::set<uint64_t> hashes;
    for (const auto& [frames, hash] : stacks) hashes.insert(hash);
    EXPECT_EQ(hashes.size(), stacks.size());
    EXPECT_GT(stacks.size(), 10'000U);
}

/// The last one: from here on there is no room.
TEST(walked_stacks, those_known_are_known_on_when_there_is_no_room_for_more) {
    std::vector<std::unique_ptr<stand_in>> others;
    for (uint64_t i = 0; i < 3000; ++i) {
        others.push_back(std::make_unique<stand_in>());
        walked_stacks::notes notes = others.back()->begin();
        for (size_t k = 0; k < 80; ++k) notes.word(others.back()->address(k), 0);
        notes.keep(i + 1);
    }
    EXPECT_EQ(others.back()->found(), 0U);
    EXPECT_EQ(early.found(), 7U);
}

}  // namespace
}  // namespace halcyon::calls
