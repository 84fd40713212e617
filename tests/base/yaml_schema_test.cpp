#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/contained.hpp"
#include "base/yaml/schema.hpp"
#include "sanitized.hpp"

namespace halcyon::yaml {
namespace {

constexpr std::string_view rules = R"({
  "type": "object", "additionalProperties": false, "required": ["name"],
  "properties": {
    "name": {"type": "string", "minLength": 2},
    "count": {"type": "integer", "minimum": 1, "maximum": 9},
    "ratio": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
    "on": {"type": "boolean"},
    "size": {"type": ["integer", "string"]},
    "mode": {"enum": ["wait", "detach"], "x-synonyms": {"block": "wait"}},
    "mixed": {"enum": ["auto", false, 3]},
    "list": {"type": "array", "minItems": 1, "maxItems": 3, "uniqueItems": true, "items": {"type": "integer"}},
    "width": {"x-expected": "a width or a pair of widths", "anyOf": [{"type": "integer"}, {"type": "array", "maxItems": 2}]},
    "things": {"type": "object", "additionalProperties": {"$ref": "#/definitions/thing"}},
    "pack": {"anyOf": [{"enum": ["none", "gzip"], "type": "string"}, {"$ref": "#/definitions/pack"}]}
  },
  "definitions": {
    "pack": {"type": "object", "additionalProperties": false, "required": ["type"],
             "properties": {"type": {"enum": ["gzip"]}, "level": {"type": "integer", "maximum": 9}}},
    "thing": {"type": "object", "additionalProperties": false, "required": ["x", "y"],
              "properties": {"x": {"type": "number"}, "y": {"type": "number"}}}
  }
})";

std::string verdict(const std::string& text) {
    const auto checked = schema::from_json(rules).value().check(parse(text, "t.yaml").value(), "t.yaml");
    if (checked.ok()) return "fits";
    EXPECT_EQ(checked.why().kind, error_kind::config);
    return checked.why().message;
}

TEST(yaml_schema, what_fits_passes) {
    EXPECT_EQ(verdict("name: ab\ncount: 9\nratio: 0.1\non: true\nsize: 3\nmode: wait\nmixed: false\nlist: [1, 2]\n"
                      "width: [1, 2]\nthings: {a: {x: 1, y: 2.5}}\npack: {type: gzip, level: 4}\n"),
              "fits");
    EXPECT_EQ(verdict("name: ab\npack: gzip\nsize: 3 MiB\nmixed: 3"), "fits");
}

TEST(yaml_schema, unknown_keys_name_the_closest_and_all_known) {
    EXPECT_EQ(
        verdict("name: ab\n\ncuont: 3\n"),
        "t.yaml:3: cuont: unknown key; did you mean 'count'?; known keys: count, list, mixed, mode, name, on, pack, "
        "ratio, size, things, width");
    EXPECT_EQ(verdict("name: ab\nthings:\n  a:\n    x: 1\n    y: 1\n    colour: 3\n"),
              "t.yaml:6: things.a.colour: unknown key; known keys: x, y");
    EXPECT_EQ(verdict("name: ab\nthings:\n  'a/~b':\n    'z/~.': {q: 1}\n    y: 1\n"),
              "t.yaml:4: things.a/~b.z/~.: unknown key; known keys: x, y");
}

TEST(yaml_schema, missing_keys_are_named) {
    EXPECT_EQ(verdict("on: true"), "t.yaml:1: 'name' is missing");
    EXPECT_EQ(verdict("name: ab\nthings:\n  a: {}"), "t.yaml:3: things.a: 'x', 'y' are missing");
    EXPECT_EQ(verdict("name: ab\nthings:\n  a: {y: 1}"), "t.yaml:3: things.a: 'x' is missing");
}

TEST(yaml_schema, wrong_types_say_what_was_seen_and_expected) {
    EXPECT_EQ(verdict("name: 12"), "t.yaml:1: name: 12 (a whole number) does not fit; expected a string");
    EXPECT_EQ(verdict("name: ab\non: yes"), "t.yaml:2: on: 'yes' (a string) does not fit; expected true or false");
    EXPECT_EQ(verdict("name: ab\ncount: 1.5"), "t.yaml:2: count: 1.5 (a number) does not fit; expected a whole number");
    EXPECT_EQ(verdict("name: ab\nsize: true"),
              "t.yaml:2: size: true does not fit; expected a whole number or a string");
    EXPECT_EQ(verdict("name: ab\nthings: [1]"), "t.yaml:2: things: a list of 1 does not fit; expected a map");
    EXPECT_EQ(verdict("name: ab\nlist:\n- 1\n- x"),
              "t.yaml:4: list[1]: 'x' (a string) does not fit; expected a whole number");
    EXPECT_EQ(verdict("name:\n"), "t.yaml:1: name: nothing does not fit; expected a string");
    EXPECT_EQ(verdict("- a"), "t.yaml:1: a list of 1 does not fit; expected a map");
    EXPECT_EQ(verdict("abc"), "t.yaml:1: 'abc' (a string) does not fit; expected a map");
}

TEST(yaml_schema, wrong_words_name_the_known_ones) {
    EXPECT_EQ(verdict("name: ab\nmode: waits"),
              "t.yaml:2: mode: 'waits' is not known; did you mean 'wait'?; expected wait or detach");
    EXPECT_EQ(verdict("name: ab\nmode: block"),
              "t.yaml:2: mode: 'block' is not known; did you mean 'wait'?; expected wait or detach");
    EXPECT_EQ(verdict("name: ab\nmode: 5"), "t.yaml:2: mode: 5 (a whole number) is not known; expected wait or detach");
    EXPECT_EQ(verdict("name: ab\nmixed: true"), "t.yaml:2: mixed: true is not known; expected auto, false or 3");
}

TEST(yaml_schema, bounds_are_named) {
    EXPECT_EQ(verdict("name: ab\ncount: 0"), "t.yaml:2: count: 0 is too small; expected at least 1");
    EXPECT_EQ(verdict("name: ab\ncount: 10"), "t.yaml:2: count: 10 is too large; expected at most 9");
    EXPECT_EQ(verdict("name: ab\nratio: 0"), "t.yaml:2: ratio: 0 is too small; expected more than 0");
    EXPECT_EQ(verdict("name: ab\nlist: []"), "t.yaml:2: list: a list of 0 is too short; expected at least 1");
    EXPECT_EQ(verdict("name: ab\nlist: [1, 2, 3, 4]"), "t.yaml:2: list: a list of 4 is too long; expected at most 3");
    EXPECT_EQ(verdict("name: ab\nlist: [1, 2, 1]"), "t.yaml:2: list[2]: an item is given twice");
    EXPECT_EQ(verdict("name: a"), "t.yaml:1: name: 'a' is too short; expected at least 2");
}

TEST(yaml_schema, of_several_choices_the_one_of_the_right_type_explains) {
    EXPECT_EQ(verdict("name: ab\nwidth: x"),
              "t.yaml:2: width: 'x' (a string) does not fit; expected a width or a pair of widths");
    EXPECT_EQ(verdict("name: ab\nwidth: [1, 2, 3]"), "t.yaml:2: width: a list of 3 is too long; expected at most 2");
    EXPECT_EQ(verdict("name: ab\npack: gzp"),
              "t.yaml:2: pack: 'gzp' is not known; did you mean 'gzip'?; expected none or gzip");
    EXPECT_EQ(verdict("name: ab\npack:\n  type: gzip\n  level: 10"),
              "t.yaml:4: pack.level: 10 is too large; expected at most 9");
    EXPECT_EQ(verdict("name: ab\npack:\n  type: gzip\n  levle: 1"),
              "t.yaml:4: pack.levle: unknown key; did you mean 'level'?; known keys: level, type");
    EXPECT_EQ(verdict("name: ab\npack: {level: 1}"), "t.yaml:2: pack: 'type' is missing");
}

TEST(yaml_schema, a_schema_that_is_no_json_is_our_fault) {
    const auto broken = schema::from_json("{");
    ASSERT_FALSE(broken.ok());
    EXPECT_EQ(broken.why().kind, error_kind::internal);
}

/// From here on malloc finds `bytes` in one piece, and nothing else.
void leave_memory(size_t bytes) {
    ::mallopt(M_MMAP_THRESHOLD, 1 << 25);
    ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
    // Volatile: the compiler may leave out memory that nobody uses.
    void* volatile const left = std::malloc(bytes);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_DATA, &none);
    for (size_t piece = size_t{1} << 24; piece >= 16; piece /= 2) {
        void* volatile taken = nullptr;
        do taken = std::malloc(piece);
        while (taken != nullptr);
    }
    std::free(left);
}

/// Ends the process: 0 when `document` was checked, 1 when there was no memory to check it.
[[noreturn]] void check_within(size_t bytes, const node& document) {
    leave_memory(bytes);
    const auto checked = contained("", [&]() -> result<void> {
        const auto compiled = schema::from_json(rules);
        return compiled ? compiled->check(document, "t.yaml") : result<void>(compiled.why());
    });
    ::_exit(checked ? 0 : checked.why().system_errno == ENOMEM ? 1 : 2);
}

TEST(yaml_schema, lack_of_memory_is_a_failure_wherever_it_comes) {
    if (tests::sanitized) GTEST_SKIP() << "a sanitizer ends a process that finds no memory";
    const node document = parse("name: ab\nthings: {a: {x: 1, y: 2.5}}\n", "t.yaml").value();
    EXPECT_EXIT(check_within(1024, document), testing::ExitedWithCode(1), "");
    for (size_t bytes = 2048; bytes < size_t{1} << 20; bytes += bytes / 4) {
        const auto either = [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) <= 1; };
        EXPECT_EXIT(check_within(bytes, document), either, "") << bytes;
    }
    EXPECT_EXIT(check_within(size_t{1} << 24, document), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace halcyon::yaml
