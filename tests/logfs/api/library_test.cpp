#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "api_test.hpp"
#include "program_output.hpp"

/// What libhalcyon-logfs shows to the programs that link it.
namespace halcyon::logfs::tests {
namespace {

using halcyon::tests::output_of;
using halcyon::tests::words_of;

TEST(library, shows_the_functions_of_its_header_and_nothing_else) {
    std::set<std::string> declared;
    const std::string header = text_of_file(HALCYON_TEST_HEADER);
    const std::regex function(R"(HALCYON_API (?:int|int32_t|const char\*) (halcyon_logfs_\w+)\()");
    for (std::sregex_iterator at(header.begin(), header.end(), function), end; at != end; ++at)
        declared.insert((*at)[1]);
    EXPECT_EQ(declared.size(), 21U);
    EXPECT_EQ(words_of(output_of("nm --dynamic --defined-only --format=just-symbols " HALCYON_TEST_LIBRARY)), declared);
}

TEST(library, needs_no_mpi_and_has_a_version_of_its_interface) {
    const std::string dynamic = output_of("readelf --wide --dynamic " HALCYON_TEST_LIBRARY);
    EXPECT_EQ(dynamic.find("libmpi"), std::string::npos) << dynamic;
    EXPECT_NE(dynamic.find("[libhalcyon-logfs.so.0]"), std::string::npos) << dynamic;
}

}  // namespace
}  // namespace halcyon::logfs::tests
