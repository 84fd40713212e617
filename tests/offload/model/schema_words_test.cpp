#include <regex>
#include <set>

#include "configuration.hpp"
#include "offload/model/configuration_schema.hpp"
#include "offload/model/names.hpp"

namespace halcyon::offload {
namespace {

/// The lists of words behind `"enum":` in the schema, in any place.
std::set<std::set<std::string>> enums_of_the_schema() {
    const std::string text(configuration_schema());
    const std::regex list(R"re("enum": \[([^\]]*)\])re");
    const std::regex word(R"re("([^"]+)")re");
    std::set<std::set<std::string>> out;
    for (std::sregex_iterator it(text.begin(), text.end(), list), end; it != end; ++it) {
        const std::string words = (*it)[1];
        std::set<std::string> one;
        for (std::sregex_iterator w(words.begin(), words.end(), word); w != end; ++w) one.insert((*w)[1]);
        out.insert(one);
    }
    return out;
}

template <class Table>
std::set<std::string> words(const Table& table) {
    std::set<std::string> out;
    for (const auto& [name, value] : table) {
        out.emplace(name);
        EXPECT_EQ(name_of(value), name);
    }
    return out;
}

TEST(schema_words, the_schema_lists_the_words_the_model_knows) {
    const auto enums = enums_of_the_schema();
    EXPECT_TRUE(enums.contains(words(scalar_type_words)));
    EXPECT_TRUE(enums.contains(words(full_policy_words)));
    EXPECT_TRUE(enums.contains(words(scope_words)));
    EXPECT_TRUE(enums.contains(words(centering_words)));
    EXPECT_TRUE(enums.contains(words(compression_words)));
    EXPECT_TRUE(enums.contains(words(mesh_type_words)));
    EXPECT_TRUE(enums.contains(words(reader_words)));
    EXPECT_TRUE(enums.contains(words(turns_words)));
}

TEST(schema_words, elements_have_the_size_their_type_says) {
    for (const auto& [name, type] : scalar_type_words) {
        const std::string bits(name.substr(name.find_first_of("0123456789")));
        EXPECT_EQ(size_of(type) * 8, std::stoi(bits)) << name;
    }
}

}  // namespace
}  // namespace halcyon::offload
