#include <gtest/gtest.h>

#include "base/yaml/document.hpp"

namespace halcyon::yaml {
namespace {

node read(std::string_view text) {
    return parse(text, "t.yaml").value();
}

std::string refusal(std::string_view text, const limits& bounds = {}) {
    const auto parsed = parse(text, "t.yaml", bounds);
    if (parsed.ok()) return "accepted";
    EXPECT_EQ(parsed.why().kind, error_kind::config);
    return parsed.why().message;
}

TEST(yaml_document, plain_scalars_have_the_core_schemas_types) {
    const node n =
        read("a: 1\nb: -0x1F\nc: 0x1F\nd: 0o17\ne: 1.5e3\nf: .5\ng: true\nh: False\ni: ~\nj: yes\nk: 010\nl: 1.");
    EXPECT_EQ(n.find("a")->integer, 1);
    EXPECT_EQ(n.find("b")->kind, node_kind::string);
    EXPECT_EQ(n.find("c")->integer, 31);
    EXPECT_EQ(n.find("d")->integer, 15);
    EXPECT_EQ(n.find("e")->real, 1500);
    EXPECT_EQ(n.find("e")->kind, node_kind::real);
    EXPECT_EQ(n.find("f")->real, 0.5);
    EXPECT_TRUE(n.find("g")->boolean);
    EXPECT_EQ(n.find("h")->kind, node_kind::boolean);
    EXPECT_FALSE(n.find("h")->boolean);
    EXPECT_EQ(n.find("i")->kind, node_kind::null);
    EXPECT_EQ(n.find("j")->kind, node_kind::string);
    EXPECT_EQ(n.find("k")->integer, 10);
    EXPECT_EQ(n.find("l")->real, 1);
}

TEST(yaml_document, quoted_scalars_are_strings) {
    const node n = read("a: \"1\"\nb: 'true'\nc: ''\nd: !!str 5\ne: !!float 5\n");
    for (const char* key : {"a", "b", "c", "d"}) EXPECT_EQ(n.find(key)->kind, node_kind::string) << key;
    EXPECT_EQ(n.find("d")->text, "5");
    EXPECT_EQ(n.find("e")->kind, node_kind::real);
}

TEST(yaml_document, lines_are_those_of_scalars_and_of_the_keys_of_maps_and_lists) {
    const node n = read("# head\na:\n  b:\n    - 1\n    - x:\n        y: 2\nc: {d: 1,\n    e: 2}\nf:\n");
    const node& a = *n.find("a");
    EXPECT_EQ(a.line, 2);
    EXPECT_EQ(a.find("b")->line, 3);
    EXPECT_EQ(a.find("b")->items[0].line, 4);
    EXPECT_EQ(a.find("b")->items[1].find("x")->line, 5);
    EXPECT_EQ(a.find("b")->items[1].find("x")->find("y")->line, 6);
    EXPECT_EQ(n.find("c")->find("e")->line, 8);
    EXPECT_EQ(n.find("f")->line, 9);
}

TEST(yaml_document, aliases_are_copies_with_the_aliass_line) {
    const node n = read("a: &x {v: 1}\nb: *x\n");
    EXPECT_EQ(n.find("b")->find("v")->integer, 1);
    EXPECT_EQ(n.find("b")->line, 2);
}

TEST(yaml_document, numbers_must_be_finite_and_fit) {
    EXPECT_EQ(refusal("a: 1\nb: .inf"), "t.yaml:2: '.inf' is not a finite number");
    EXPECT_EQ(refusal("b: -.Inf"), "t.yaml:1: '-.Inf' is not a finite number");
    EXPECT_EQ(refusal("b: [1, .nan]"), "t.yaml:1: '.nan' is not a finite number");
    EXPECT_EQ(refusal("b: 1e999"), "t.yaml:1: '1e999' is beyond the range of a double");
    EXPECT_EQ(refusal("b: 9223372036854775808"), "t.yaml:1: '9223372036854775808' does not fit 64 bits");
    EXPECT_EQ(read("b: 9223372036854775807").find("b")->integer, INT64_MAX);
    EXPECT_EQ(read("b: -9223372036854775808").find("b")->integer, INT64_MIN);
    EXPECT_EQ(refusal("b: 1e-999"), "t.yaml:1: '1e-999' is beyond the range of a double");
}

TEST(yaml_document, a_key_given_twice_is_refused) {
    EXPECT_EQ(refusal("a: 1\nb: 2\na: 3\n"), "t.yaml:3: the key 'a' is given twice; first on line 1");
    EXPECT_EQ(refusal("x:\n  {a: 1, \"a\": 2}\n"), "t.yaml:2: the key 'a' is given twice; first on line 2");
}

TEST(yaml_document, keys_are_scalars) {
    EXPECT_EQ(refusal("? [a, b]\n: 1\n"), "t.yaml:1: a key must be a single word or a quoted text, not a list or map");
    EXPECT_EQ(refusal("a: 1\n~: 2\n"), "t.yaml:2: a key is missing before ':' (quote it if it is 'null' or '~')");
    EXPECT_EQ(read(".inf: 1").entries[0].key, ".inf");
    EXPECT_EQ(read("1.50: 1").entries[0].key, "1.50");
}

TEST(yaml_document, emptiness_is_refused) {
    EXPECT_EQ(refusal(""), "t.yaml:1: the file is empty");
    EXPECT_EQ(refusal("# only a comment\n\n"), "t.yaml:1: the file is empty");
    EXPECT_EQ(refusal("---\n"), "t.yaml:1: the file is empty");
    EXPECT_EQ(refusal("null"), "t.yaml:1: the file is empty");
}

TEST(yaml_document, a_second_document_is_refused) {
    EXPECT_EQ(refusal("a: 1\n---\nb: 1\n"), "t.yaml:2: a second document begins here; the file may hold only one");
}

TEST(yaml_document, an_explicit_end_is_accepted) {
    EXPECT_EQ(read("---\na: |\n  x\n...\n").find("a")->text, "x\n");
}

TEST(yaml_document, tabs_in_the_indentation_are_refused) {
    EXPECT_EQ(refusal("a:\n \tb: 1\n"), "t.yaml:2: a tab in the indentation; YAML allows only spaces there");
    EXPECT_EQ(read("a: 1\t# aligned\n").find("a")->integer, 1);
}

TEST(yaml_document, bytes_that_are_no_text_are_refused) {
    EXPECT_EQ(refusal("a: 1\nb: \xff\n"), "t.yaml:2: the byte 0xff is not UTF-8");
    EXPECT_EQ(refusal("a: \xc0\xaf\n"), "t.yaml:1: the byte 0xc0 is not UTF-8");
    EXPECT_EQ(refusal("a: \xed\xa0\x80\n"), "t.yaml:1: the byte 0xed is not UTF-8");
    EXPECT_EQ(refusal(std::string_view("a: \0b\n", 7)), "t.yaml:1: the control character 0x00 is not allowed");
    EXPECT_EQ(refusal("a: \"\\0\"\n"), "t.yaml:1: an escape makes a character that is not allowed in text");
    EXPECT_EQ(read("\xef\xbb\xbf"
                   "a: \"é°\"\n")
                  .find("a")
                  ->text,
              "é°");
}

TEST(yaml_document, broken_yaml_is_refused_with_its_line) {
    EXPECT_TRUE(refusal("a: 1\nb: [1, 2\nc: 3\n").starts_with("t.yaml:3: not valid YAML: "))
        << refusal("a: 1\nb: [1, 2\nc: 3\n");
    EXPECT_TRUE(refusal("a: *nowhere\n").starts_with("t.yaml:1: not valid YAML: "));
    for (const char* cut : {"a: 'open\n", "a: \"open\n", "a: \"open", "a: \"open\n  # more\n\n"}) {
        EXPECT_TRUE(refusal(cut).ends_with("not valid YAML: illegal document indicator in scalar")) << refusal(cut);
    }
    EXPECT_EQ(refusal("a: {b: 1\n"), "t.yaml:1: not valid YAML: end of map flow not found");
}

TEST(yaml_document, foreign_tags_are_refused) {
    EXPECT_EQ(refusal("a: !mine 5\n"), "t.yaml:1: '!mine' is a tag this file format does not have");
    EXPECT_EQ(refusal("a: !!int x\n"), "t.yaml:1: 'x' does not fit its tag !!int");
}

TEST(yaml_document, nesting_is_bounded) {
    const auto nested = [](size_t depth) { return "a: " + std::string(depth, '[') + std::string(depth, ']'); };
    EXPECT_TRUE(parse(nested(63), "t.yaml").ok());
    EXPECT_EQ(refusal(nested(64)), "t.yaml:1: nested deeper than 64 levels");
    EXPECT_EQ(refusal(nested(20'000)), "t.yaml:1: nested deeper than 64 levels");
    EXPECT_NE(refusal("a: " + std::string(100'000, '[')), "accepted");
    EXPECT_NE(refusal("a: " + std::string(100'000, '{')), "accepted");
    std::string blocks;
    for (int i = 0; i < 100; ++i) blocks += std::string(i, ' ') + "a:\n";
    EXPECT_EQ(refusal(blocks), "t.yaml:65: nested deeper than 64 levels");
}

TEST(yaml_document, aliases_cannot_explode) {
    std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 12; ++i) {
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
        bomb += "]\n";
    }
    EXPECT_EQ(refusal(bomb), "t.yaml:6: aliases expand to more than 1000000 values");
    EXPECT_EQ(refusal("a: &a [*a]\n"), "t.yaml:1: this alias lies inside the value it stands for");
    std::string deep = "a0: &a0 [x]\n";
    for (int i = 1; i < 100; ++i)
        deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
    EXPECT_EQ(refusal(deep), "t.yaml:64: nested deeper than 64 levels");
}

TEST(yaml_document, size_is_bounded) {
    EXPECT_EQ(refusal("a: 12345\n", {.bytes = 8}), "t.yaml:1: the file is larger than 8 bytes");
}

TEST(yaml_document, megabytes_are_read) {
    std::string text = "v:\n";
    const int entries = 60'000;
    for (int i = 0; i < entries; ++i) text += "  name" + std::to_string(i) + ": {layout: grid, unit: K}\n";
    ASSERT_GT(text.size(), size_t{2} << 20);
    const node n = read(text);
    EXPECT_EQ(n.find("v")->entries.size(), size_t{entries});
    EXPECT_EQ(n.find("v")->entries.back().key_line, entries + 1);
}

}  // namespace
}  // namespace halcyon::yaml
