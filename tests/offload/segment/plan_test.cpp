#include <gtest/gtest.h>

#include <string>

#include "offload/segment/segment.hpp"

namespace halcyon::offload {
namespace {

/// Why a segment for one client cannot be planned.
std::string refusal(const std::string& buffer, const std::string& store = "path: out") {
    const std::string text =
        "halcyon: 1\nsimulation: cloud\n"
        "data: {layouts: {row: {type: float64, dimensions: [1000000]}}, variables: {theta: {layout: row}}}\n"
        "stores: {main: {" +
        store + "}}\nresources:\n  buffer:\n" + buffer;
    const model m = parse_model(text, "cloud.yaml", {}).value();
    const auto planned = plan_segment(m, 1, need_of(m, 0, 1).value());
    return planned.ok() ? "planned" : planned.why().message;
}

TEST(planning_a_segment, names_the_line_of_a_buffer_that_is_too_small) {
    EXPECT_EQ(refusal("    huge-pages: false\n    size: 1 MiB\n").find("cloud.yaml:8: resources.buffer.size: 1048576"),
              0U)
        << refusal("    huge-pages: false\n    size: 1 MiB\n");
}

TEST(planning_a_segment, says_what_the_size_is_made_of) {
    const std::string one = refusal("    size: 1 MiB\n");
    for (const std::string part : {"1048576 bytes (1 MiB) for 1 clients leave each ",
                                   "one client needs 16000000 bytes (15.26 MiB): 8000000 bytes (7.63 MiB) of stored "
                                   "variables in one iteration, and the largest block once more, 8000000 bytes",
                                   "rings and tables take "})
        EXPECT_NE(one.find(part), std::string::npos) << part << "\n" << one;
    EXPECT_EQ(one.find("iterations-per-file"), std::string::npos) << one;
    const std::string four = refusal("    size: 1 MiB\n", "path: out, iterations-per-file: 4");
    EXPECT_NE(four.find("needs 40000000 bytes (38.15 MiB): 4 iterations of a file, each with 8000000 bytes"),
              std::string::npos)
        << four;
    EXPECT_NE(four.find("fewer iterations into a file (iterations-per-file), or set at least "), std::string::npos)
        << four;
}

TEST(planning_a_segment, names_the_line_of_a_table_that_is_too_small) {
    EXPECT_EQ(refusal("    blocks-per-client: 1\n").find("cloud.yaml:7: resources.buffer.blocks-per-client: 1 "), 0U)
        << refusal("    blocks-per-client: 1\n");
}

TEST(planning_a_segment, knows_of_room_for_what_no_store_keeps_but_does_not_demand_it) {
    const model m = parse_model(
                        "halcyon: 1\nsimulation: cloud\n"
                        "data: {layouts: {row: {type: float64, dimensions: [1000000]}}, variables: {"
                        "theta: {layout: row}, scratch: {layout: row, store: false}}}\n"
                        "stores: {main: {path: out}}\n",
                        "cloud.yaml", {})
                        .value();
    const arena_need need = need_of(m, 0, 1).value();
    EXPECT_EQ(need.iteration, 8'000'000U);
    EXPECT_EQ(need.passing, 8'000'000U);
    EXPECT_EQ(need.total(), need.iteration + need.largest);
    EXPECT_EQ(need.joined({}).passing, need.passing);
}

TEST(planning_a_segment, succeeds_with_the_size_that_a_refusal_names) {
    const std::string why = refusal("    size: 1 MiB\n");
    const auto from = why.rfind("set at least ") + 13;
    const auto bytes = std::stoull(why.substr(from));
    EXPECT_EQ(refusal("    size: " + std::to_string(bytes) + " B\n"), "planned");
    EXPECT_NE(refusal("    size: " + std::to_string(bytes - 1) + " B\n"), "planned");
}

}  // namespace
}  // namespace halcyon::offload
