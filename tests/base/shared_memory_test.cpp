#include "base/shared_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

namespace {

using halcyon::descriptor;
using halcyon::shared_memory;

TEST(shared_memory, is_zero_and_cannot_change_its_size) {
    auto made = shared_memory::create("test", 1 << 20, true);
    ASSERT_TRUE(made.ok()) << made.why().message;
    for (uint64_t i = 0; i < made->size(); i += 4096) ASSERT_EQ(made->data()[i], std::byte{0});
    EXPECT_NE(::ftruncate(made->fd(), 4096), 0);
    EXPECT_NE(::ftruncate(made->fd(), 2 << 20), 0);
}

TEST(shared_memory, shows_another_mapping_what_was_written) {
    auto made = shared_memory::create("test", 8192, false);
    ASSERT_TRUE(made.ok());
    auto other = shared_memory::map(descriptor(::dup(made->fd())), 8192);
    ASSERT_TRUE(other.ok()) << other.why().message;
    made->data()[5000] = std::byte{42};
    EXPECT_EQ(other->data()[5000], std::byte{42});
}

TEST(shared_memory, more_than_there_is_fails_at_creation) {
    auto made = shared_memory::create("test", uint64_t{1} << 46, false);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.why().kind, halcyon::error_kind::system);
    EXPECT_NE(made.why().message.find("70368744177664"), std::string::npos) << made.why().message;
}

TEST(shared_memory, a_limit_on_files_is_an_error_and_no_signal) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = before;
    small.rlim_cur = 1 << 20;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    auto made = shared_memory::create("test", 4 << 20, false);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.why().system_errno, EFBIG);
    EXPECT_NE(made.why().message.find("ulimit -f"), std::string::npos) << made.why().message;
}

TEST(shared_memory, refuses_memory_that_its_sender_could_shrink) {
    descriptor open(::memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(::ftruncate(open.get(), 4096), 0);
    auto mapped = shared_memory::map(std::move(open), 4096);
    ASSERT_FALSE(mapped.ok());
    EXPECT_NE(mapped.why().message.find("sealed"), std::string::npos);
}

TEST(shared_memory, refuses_another_size_than_agreed) {
    auto made = shared_memory::create("test", 8192, false);
    auto mapped = shared_memory::map(descriptor(::dup(made->fd())), 4096);
    EXPECT_FALSE(mapped.ok());
}

TEST(shared_memory, frozen_cannot_be_written_by_anybody) {
    auto made = shared_memory::create("test", 4096, false);
    made->data()[0] = std::byte{7};
    ASSERT_TRUE(made->freeze().ok());
    EXPECT_EQ(made->data()[0], std::byte{7});
    const char change = 9;
    EXPECT_LT(::pwrite(made->fd(), &change, 1, 0), 0);
    EXPECT_EQ(errno, EPERM);
    EXPECT_FALSE(shared_memory::map(descriptor(::dup(made->fd())), 4096, true).ok());
    EXPECT_TRUE(shared_memory::map(descriptor(::dup(made->fd())), 4096, false).ok());
}

TEST(shared_memory, touched_pages_are_resident) {
    auto made = shared_memory::create("test", 1 << 20, false);
    auto other = shared_memory::map(descriptor(::dup(made->fd())), 1 << 20);
    ASSERT_TRUE(other->touch(4096, (1 << 20) - 4096).ok());
    unsigned char resident[256] = {};
    ASSERT_EQ(::mincore(other->data(), 1 << 20, resident), 0);
    for (int page = 1; page < 256; ++page) EXPECT_EQ(resident[page] & 1, 1) << page;
}

}  // namespace
