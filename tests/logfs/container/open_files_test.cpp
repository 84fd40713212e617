#include "logfs/container/files/open_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <random>

#include "temporary_folder.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

/// Beside a list in the order of their last use.
TEST(open_files, keeps_those_that_were_used_last) {
    const halcyon::tests::temporary_folder folder;
    tests::watched_files calls;
    int open = 0;
    int most = 0;
    calls.behind = [&](std::string_view call) {
        if (call == "open") most = std::max(most, ++open);
        if (call == "close") --open;
    };
    const int directory = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 40; ++i) ::close(::open(folder.file(std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0600));
    memory_source memory(calls);
    {
        open_files files(calls, memory, 8);
        std::list<uint64_t> used;
        std::mt19937_64 random(1);
        for (int i = 0; i < 20000; ++i) {
            const uint64_t key = random() % (i % 2 == 0 ? 40 : 10);
            const auto place = std::find(used.begin(), used.end(), key);
            const int before = open;
            if (random() % 20 == 0) {
                files.close(key);
                EXPECT_EQ(open, place == used.end() ? before : before - 1);
                if (place != used.end()) used.erase(place);
                continue;
            }
            ASSERT_GE(files.get(key, directory, std::to_string(key).c_str()), 0);
            if (place != used.end()) {
                ASSERT_EQ(open, before);
                used.erase(place);
            }
            used.push_front(key);
            if (used.size() > 8) used.pop_back();
            ASSERT_EQ(files.size(), used.size());
            ASSERT_EQ(open, static_cast<int>(used.size()));
        }
        EXPECT_EQ(most, 8);
    }
    EXPECT_EQ(open, 0);
    ::close(directory);
}

TEST(open_files, closes_some_when_the_process_has_no_more_descriptors) {
    const halcyon::tests::temporary_folder folder;
    const int directory = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 10; ++i) ::close(::open(folder.file(std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0600));
    tests::watched_files calls;
    int open = 0;
    calls.before = [&](std::string_view call, int64_t) { return call == "open" && open >= 4 ? -EMFILE : 0; };
    calls.behind = [&](std::string_view call) {
        if (call == "open") ++open;
        if (call == "close") --open;
    };
    memory_source memory(calls);
    open_files files(calls, memory, 100);
    for (uint64_t i = 0; i < 10; ++i) EXPECT_GE(files.get(i, directory, std::to_string(i).c_str()), 0);
    EXPECT_EQ(files.size(), 4U);
    EXPECT_EQ(files.get(77, directory, "nothing"), -ENOENT);
    ::close(directory);
}

}  // namespace
}  // namespace halcyon::logfs
