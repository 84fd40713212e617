#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

#include "api_test.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/reading/reader.hpp"

/// What halcyon_logfs_options say.
namespace halcyon::logfs::tests {
namespace {

namespace fs = std::filesystem;

/// The first plain file below a folder whose name begins so; "": none.
std::string file_below(const std::string& folder, const std::string& begin) {
    for (const auto& each : fs::recursive_directory_iterator(folder))
        if (each.is_regular_file() && each.path().filename().string().starts_with(begin)) return each.path().string();
    return {};
}

class of_an_opening : public api_test {};

TEST_F(of_an_opening, say_who_writes) {
    halcyon_logfs_options how = options();
    how.has_rank = 1;
    how.rank = 7;
    how.group = 77;
    how.clock_bound_ns = 777;
    opened told(path_, for_both, &how);
    told.write("text", 0);
    opened untold(path_);
    untold.write("more", 4);
    container in;
    in.open(path_).value();
    reader from(in);
    from.reload().value();
    ASSERT_EQ(from.writers().size(), 2U);
    const uint32_t first = from.writers()[0].rank == 7 ? 0 : 1;
    EXPECT_EQ(from.writers()[first].rank, 7);
    EXPECT_EQ(from.writers()[first].group, 77U);
    EXPECT_EQ(from.writers()[first].clock_bound_ns, 777);
    EXPECT_EQ(from.writers()[1 - first].rank, -1);
    EXPECT_EQ(from.writers()[1 - first].group, 0U);
}

TEST_F(of_an_opening, find_data_that_were_damaged) {
    halcyon_logfs_options how = options();
    how.data_checks = 1;
    {
        opened file(path_, for_writing, &how);
        file.write(std::string(1000, 'x'), 0);
    }
    std::fstream data(file_below(path_, "data."), std::ios::binary | std::ios::in | std::ios::out);
    data.seekp(500);
    data << "y";
    data.close();
    const opened trusts(path_, HALCYON_LOGFS_READ);
    EXPECT_EQ(trusts.read(1000, 0).find('y'), 500U);
    how.verify = 1;
    const opened verifies(path_, HALCYON_LOGFS_READ, &how);
    std::string into(1000, '?');
    uint64_t done = 7;
    EXPECT_TRUE(
        failed(halcyon_logfs_pread(verifies, into.data(), into.size(), 0, &done), HALCYON_ERROR_CONFIG, EIO, path_));
    EXPECT_EQ(done, 0U);
}

TEST_F(of_an_opening, lay_data_on_a_disk_of_the_node_until_they_are_synced) {
    const std::string stage = folder_.file("node");
    fs::create_directory(stage);
    halcyon_logfs_options how = options();
    std::string given = stage;
    how.stage = given.c_str();
    opened file(path_, for_both, &how);
    std::fill(given.begin(), given.end(), '/');  // the library has a copy
    file.write("text", 0);
    EXPECT_NE(file_below(stage, "data."), "");
    EXPECT_EQ(file_below(path_, "data."), "");
    EXPECT_EQ(file.read(100, 0), "text");
    ASSERT_TRUE(went_well(halcyon_logfs_sync(file)));
    file.close();
    EXPECT_NE(file_below(path_, "data."), "");
    EXPECT_EQ(file_below(stage, "data."), "");
    EXPECT_EQ(text_of(path_), "text");
}

TEST_F(of_an_opening, spread_logs_over_directories_of_which_the_container_knows) {
    const std::string one = folder_.file("one");
    const std::string other = folder_.file("other");
    fs::create_directory(one);
    fs::create_directory(other);
    std::string both = one + ":" + other;
    halcyon_logfs_options how = options();
    how.backends = both.c_str();
    {
        opened file(path_, for_writing, &how);
        std::fill(both.begin(), both.end(), '/');
        file.write("text", 0);
    }
    EXPECT_TRUE(file_below(one, "data.") != "" || file_below(other, "data.") != "");
    EXPECT_EQ(text_of(path_), "text");
    ASSERT_TRUE(went_well(halcyon_logfs_remove(path_.c_str())));
    EXPECT_TRUE(fs::is_empty(one) && fs::is_empty(other));
}

TEST_F(of_an_opening, give_all_processes_of_a_node_one_log) {
    halcyon_logfs_options how = options();
    how.node_log = 1;
    {
        opened one(path_, for_writing, &how);
        opened other(path_, for_writing, &how);
        one.write("one", 0);
        other.write("two", 3);
    }
    EXPECT_NE(file_below(path_, "node."), "");
    EXPECT_EQ(text_of(path_), "onetwo");
}

struct nonsense {
    const char* name;
    unsigned mode;
    halcyon_logfs_options options;
    const char* message;
};
void PrintTo(const nonsense& what, std::ostream* out) {
    *out << what.name;
}

halcyon_logfs_options with(void (*set)(halcyon_logfs_options&)) {
    halcyon_logfs_options made{};
    made.size_bytes = sizeof made;
    if (set != nullptr) set(made);
    return made;
}

class that_make_no_sense : public api_test, public testing::WithParamInterface<nonsense> {};

using given = halcyon_logfs_options;
INSTANTIATE_TEST_SUITE_P(
    , that_make_no_sense,
    testing::Values(
        nonsense{"no_mode", 0, with(nullptr), "mode has neither HALCYON_LOGFS_READ nor HALCYON_LOGFS_WRITE"},
        nonsense{"another_mode", 64, with(nullptr), "mode is 64; expected values of halcyon_logfs_mode"},
        nonsense{"created_to_be_read", HALCYON_LOGFS_READ | HALCYON_LOGFS_CREATE, with(nullptr),
                 "HALCYON_LOGFS_CREATE and HALCYON_LOGFS_TRUNCATE need HALCYON_LOGFS_WRITE"},
        nonsense{"emptied_to_be_read", HALCYON_LOGFS_READ | HALCYON_LOGFS_TRUNCATE, with(nullptr),
                 "HALCYON_LOGFS_CREATE and HALCYON_LOGFS_TRUNCATE need HALCYON_LOGFS_WRITE"},
        nonsense{"exclusive_alone", HALCYON_LOGFS_WRITE | HALCYON_LOGFS_EXCLUSIVE, with(nullptr),
                 "HALCYON_LOGFS_EXCLUSIVE needs HALCYON_LOGFS_CREATE"},
        nonsense{"no_size", for_both, given{}, "size_bytes of the halcyon_logfs_options is 0"},
        nonsense{"rank", for_both, with([](given& to) { to.has_rank = 1, to.rank = -2; }), "rank is -2"},
        nonsense{"clock", for_both, with([](given& to) { to.clock_bound_ns = -1; }), "clock_bound_ns is -1"},
        nonsense{"permissions", for_both, with([](given& to) { to.permissions = 010000; }), "permissions is 4096"},
        nonsense{"relative_stage", for_both, with([](given& to) { to.stage = "node"; }),
                 "stage is 'node'; expected absolute paths"},
        nonsense{"empty_stage", for_both, with([](given& to) { to.stage = ""; }), "stage is ''"},
        nonsense{"one_relative_backend", for_both, with([](given& to) { to.backends = "/a:b"; }),
                 "backends is '/a:b'; expected absolute paths"},
        nonsense{"checks_of_a_shared_log", for_both, with([](given& to) { to.node_log = to.data_checks = 1; }),
                 "node_log does not go with data_checks"},
        nonsense{"stage_of_a_shared_log", for_both, with([](given& to) { to.node_log = 1, to.stage = "/node"; }),
                 "node_log does not go with a stage"}),
    [](const auto& info) { return info.param.name; });

TEST_P(that_make_no_sense, are_refused_before_anything_is_created) {
    halcyon_logfs_handle h = nullptr;
    const int code = halcyon_logfs_open(path_.c_str(), GetParam().mode, &GetParam().options, &h);
    EXPECT_EQ(code, HALCYON_ERROR_USAGE);
    EXPECT_NE(std::string(halcyon_logfs_error_message()).find(GetParam().message), std::string::npos)
        << halcyon_logfs_error_message();
    EXPECT_EQ(h, nullptr);
    EXPECT_FALSE(fs::exists(path_));
}

/// What lies there is not of the struct.
TEST_F(of_an_opening, end_where_an_earlier_release_had_no_further_members) {
    halcyon_logfs_options how = options();
    how.size_bytes = offsetof(halcyon_logfs_options, stage);
    how.stage = reinterpret_cast<const char*>(uintptr_t{64});
    how.backends = how.stage;
    opened(path_, for_both, &how).write("text", 0);
    EXPECT_EQ(text_of(path_), "text");
}

}  // namespace
}  // namespace halcyon::logfs::tests
