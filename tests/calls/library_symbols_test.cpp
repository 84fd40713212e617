// What libhalcyon-io.so shows to the programs that it is loaded into.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "program_output.hpp"

namespace {

using halcyon::tests::output_of;
using halcyon::tests::words_of;

// Anything else would capture a function of the application, or of a library that it loads.
// Those of our own are how libhalcyon asks for forecasts, and for the name of its job.
TEST(library_symbols_test, are_those_of_the_table_and_no_others) {
    const std::string defined = output_of("nm --dynamic --defined-only --format=just-symbols " HALCYON_TEST_LIBRARY);
    const std::string table = output_of(HALCYON_TEST_TABLE " symbols");
    EXPECT_GT(words_of(table).size(), 500U);
    std::set<std::string> shown;
    for (const std::string& name : words_of(defined)) {
        // Some functions have two versions (calls/wrappers/versions.hpp), whose names are symbols, too.
        const bool is_version = name.starts_with("GLIBC_2.") || name == "HALCYON_IO_1";
        if (!is_version) shown.insert(name.substr(0, name.find('@')));
    }
    std::set<std::string> expected = words_of(table);
    expected.insert({"halcyon_io_forecast", "halcyon_io_job"});
    EXPECT_EQ(shown, expected);
}

// The versions of each function that a library defines ("@@": those that new programs get), with their addresses.
std::map<std::string, std::map<std::string, std::string>> versions_in(const std::string& library) {
    std::map<std::string, std::map<std::string, std::string>> versions;
    std::istringstream lines(output_of("readelf --wide --dyn-syms " + library));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string number, address, size, type, binding, visibility, section, name;
        words >> number >> address >> size >> type >> binding >> visibility >> section >> name;
        const size_t at = name.find('@');
        if (section != "UND" && at != std::string::npos) versions[name.substr(0, at)][name.substr(at)] = address;
    }
    return versions;
}

// A program asks for one version of a function, and an interposed one without it would answer with another's behaviour.
TEST(library_symbols_test, have_the_versions_that_differ_in_the_c_library) {
    Dl_info libc{};
    ASSERT_NE(dladdr(reinterpret_cast<void*>(&fopen), &libc), 0);
    const auto ours = versions_in(HALCYON_TEST_LIBRARY);
    const auto theirs = versions_in(libc.dli_fname);
    std::set<std::string> checked;
    for (const std::string& name : words_of(output_of(HALCYON_TEST_TABLE " symbols"))) {
        const auto known = theirs.find(name);
        if (known == theirs.end()) continue;
        std::set<std::string> versions, addresses;
        for (const auto& [version, address] : known->second) {
            versions.insert(version);
            addresses.insert(address);
        }
        if (addresses.size() < 2) continue;
        checked.insert(name);
        std::set<std::string> here;
        if (const auto own = ours.find(name); own != ours.end())
            for (const auto& [version, address] : own->second) here.insert(version);
        EXPECT_EQ(here, versions) << name;
    }
    EXPECT_TRUE(checked.contains("posix_spawn"));
}

TEST(library_symbols_test, need_nothing_but_the_c_library) {
    std::istringstream lines(output_of("readelf --wide --dynamic " HALCYON_TEST_LIBRARY));
    std::set<std::string> needed;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("(NEEDED)") == std::string::npos) continue;
        needed.insert(line.substr(line.find('[')));
    }
    EXPECT_TRUE(needed.erase("[libc.so.6]"));
    for (const std::string& other : needed) EXPECT_TRUE(other.starts_with("[ld-linux-")) << other;
}

}  // namespace
