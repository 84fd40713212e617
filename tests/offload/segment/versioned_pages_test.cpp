#include "offload/segment/versioned_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>

namespace halcyon::offload {
namespace {

using many = std::array<uint64_t, 257>;

many filled(uint64_t with) {
    many value;
    value.fill(with);
    return value;
}

TEST(versioned_pages, begin_as_zeros) {
    const versioned_pages<many> pages;
    const auto found = pages.read();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->version, 0U);
    EXPECT_EQ(found->value, filled(0));
}

TEST(versioned_pages, a_reader_never_has_half_of_a_value) {
    versioned_pages<many> pages;
    std::atomic<bool> over{false};
    std::thread writer([&] {
        for (uint64_t i = 1; i <= 100'000; ++i) pages.write(filled(i));
        over.store(true);
    });
    uint64_t last = 0;
    int torn = 0, backwards = 0;
    while (!over.load()) {
        const auto found = pages.read();
        if (!found) continue;
        torn += found->value == filled(found->version) ? 0 : 1;
        backwards += found->version < last ? 1 : 0;
        last = found->version;
    }
    writer.join();
    EXPECT_EQ(torn, 0);
    EXPECT_EQ(backwards, 0);
    EXPECT_EQ(pages.read()->value, filled(100'000));
}

TEST(versioned_pages, what_a_writer_left_half_done_is_not_read_and_its_successor_goes_on) {
    versioned_pages<many> pages;
    pages.write(filled(1));
    // As the writer that is killed leaves it: some words of the page of version 2, and no version.
    auto* words = reinterpret_cast<std::atomic<uint64_t>*>(&pages);
    for (size_t i = 0; i < 100; ++i) words[1 + i].store(77);
    EXPECT_EQ(pages.read()->version, 1U);
    EXPECT_EQ(pages.read()->value, filled(1));
    pages.write(filled(2));
    EXPECT_EQ(pages.read()->version, 2U);
    EXPECT_EQ(pages.read()->value, filled(2));
}

}  // namespace
}  // namespace halcyon::offload
