#include "configuration.hpp"

namespace halcyon::offload {
namespace {

std::string decomposed(const std::string& place) {
    return with_head(
        "parameters: {nx: 8, ny: 6, px: 2, py: 3, g: 1}\ndata:\n"
        "  layouts: {l: {type: float64, dimensions: [ny/py + 2*g, nx/px + g]}}\n  places:\n    p: " +
        place + "\n  variables: {v: {layout: l, place: p}}\n");
}

const char* const two_dimensional =
    "{global: [ny, nx], offset: [(rank / px) * (ny/py), (rank % px) * (nx/px)], ghost: [g, [0, g]]}";

std::string shape_refusal(const std::string& text, const block_owner& owner) {
    const model m = read(text);
    const auto shape = shape_of(m, m.variables[0], owner);
    return shape.ok() ? "accepted" : shape.why().message;
}

TEST(shape, interiors_of_all_ranks_tile_the_whole) {
    const model m = read(decomposed(two_dimensional));
    std::vector<int> covered(6 * 8);
    for (int rank = 0; rank < 6; ++rank) {
        const block_shape s = shape_of(m, m.variables[0], {rank, 6, 0}).value();
        EXPECT_EQ(s.dimensions, (extents{4, 5}));
        EXPECT_EQ(s.global, (extents{6, 8}));
        EXPECT_EQ(s.ghost_before, (extents{1, 0}));
        EXPECT_EQ(s.ghost_after, (extents{1, 1}));
        EXPECT_EQ(s.bytes, 4 * 5 * 8);
        for (int64_t y = 0; y < 2; ++y)
            for (int64_t x = 0; x < 4; ++x) ++covered[(s.offset[0] + y) * 8 + s.offset[1] + x];
    }
    EXPECT_EQ(covered, std::vector<int>(6 * 8, 1));
}

TEST(shape, without_a_place_the_block_is_the_whole) {
    const model m =
        read(with_head("data: {layouts: {l: {type: int16, dimensions: [3, size]}}, variables: {v: {layout: l}}}\n"));
    const block_shape s = shape_of(m, m.variables[0], {1, 4, 0}).value();
    EXPECT_EQ(s.dimensions, (extents{3, 4}));
    EXPECT_EQ(s.global, s.dimensions);
    EXPECT_EQ(s.offset, (extents{0, 0}));
    EXPECT_EQ(s.ghost_before, (extents{0, 0}));
    EXPECT_EQ(s.bytes, 24);
}

TEST(shape, a_scalar_has_one_element) {
    const model m =
        read(with_head("data: {layouts: {l: {type: float32, dimensions: []}}, variables: {v: {layout: l}}}\n"));
    const block_shape s = shape_of(m, m.variables[0], {}).value();
    EXPECT_EQ(s.dimensions.rank, 0);
    EXPECT_EQ(s.bytes, 4);
}

TEST(shape, an_interior_outside_the_whole_is_refused) {
    EXPECT_EQ(
        shape_refusal(decomposed(two_dimensional), {6, 7, 0}),
        "cloud.yaml:7: data.places.p.offset[0]: the block's interior, 6 … 8, leaves the whole of 6 (variable 'v', rank "
        "6 of 7, block 0)");
}

TEST(shape, ghosts_wider_than_the_block_are_refused) {
    EXPECT_EQ(
        shape_refusal(decomposed("{global: [ny, nx], offset: [0, 0], ghost: [3, 0]}"), {}),
        "cloud.yaml:7: data.places.p.ghost[0]: the ghost layers (3 and 3) are wider than the block (4) (variable 'v', "
        "rank 0 of 1, block 0)");
}

TEST(shape, extents_of_one_rank_are_checked_too) {
    const auto with_dimension = [](const std::string& dimension) {
        return with_head("parameters: {nx: 8, big: 9e15}\ndata: {layouts: {l: {type: float64, dimensions: ['" +
                         dimension + "']}}, variables: {v: {layout: l}}}\n");
    };
    const std::string at = "cloud.yaml:4: data.layouts.l.dimensions";
    const std::string who = " (variable 'v', rank 2 of 4, block 1)";
    EXPECT_EQ(shape_refusal(with_dimension("1 - rank"), {2, 4, 1}),
              at + "[0]: '1 - rank' is -1; expected 0 or more" + who);
    EXPECT_EQ(shape_refusal(with_dimension("nx / (rank - 2)"), {2, 4, 1}),
              at + "[0]: 'nx / (rank - 2)' divides by zero" + who);
    EXPECT_EQ(shape_refusal(with_dimension("block * 1.5"), {2, 4, 1}),
              at + "[0]: 'block * 1.5' is 1.5; expected a whole number within ±2^53" + who);
    EXPECT_EQ(shape_refusal(with_dimension("big * rank"), {2, 4, 1}),
              at + "[0]: 'big * rank' exceeds 2^53, beyond which whole numbers are not exact" + who);
}

TEST(shape, sizes_beyond_2_to_the_62_are_refused) {
    const std::string text = with_head(
        "parameters: {h: 4e9}\ndata: {layouts: {l: {type: float64, dimensions: [h, h + rank]}}, "
        "places: {p: {global: [h, h], offset: [0, 0]}}, variables: {v: {layout: l}}}\n");
    EXPECT_EQ(shape_refusal(text, {}),
              "cloud.yaml:4: data.layouts.l.dimensions: the block has more than 2^62 bytes (variable "
              "'v', rank 0 of 1, block 0)");
    const std::string whole = with_head(
        "parameters: {h: 4e9}\ndata: {layouts: {l: {type: float64, dimensions: [1, 1]}}, "
        "places: {p: {global: [h, h], offset: [0, 0]}}, variables: {v: {layout: l, place: p}}}\n");
    EXPECT_EQ(shape_refusal(whole, {}),
              "cloud.yaml:4: data.places.p.global: the whole array has more than 2^62 bytes "
              "(variable 'v', rank 0 of 1, block 0)");
    const std::string empty = with_head(
        "parameters: {h: 4e9}\ndata: {layouts: {l: {type: float64, dimensions: [h, h, h, 0]}}, "
        "variables: {v: {layout: l}}}\n");
    const model m = read(empty);
    EXPECT_EQ(shape_of(m, m.variables[0], {}).value().bytes, 0);
}

TEST(shape, follows_mutable_parameters) {
    model m =
        read(with_head("parameters: {n: {value: 0, mutable: true, max: 10}}\n"
                       "data: {layouts: {l: {type: int32, dimensions: [n, 3]}}, variables: {v: {layout: l}}}\n"));
    EXPECT_EQ(shape_of(m, m.variables[0], {}).value().bytes, 0);
    m.set_parameter("n", 7).value();
    EXPECT_EQ(shape_of(m, m.variables[0], {}).value().bytes, 7 * 3 * 4);
    EXPECT_EQ(largest_bytes(m, m.variables[0], {}), 10 * 3 * 4);
}

TEST(shape, needs_no_parse_model) {
    model m;
    m.parameters.resize(1);
    m.parameters[0].name = "nx";
    m.parameters[0].value = 5;
    m.layouts.resize(1);
    m.layouts[0].type = scalar_type::int8;
    m.layouts[0].dimensions = {expression::parse("nx + rank").value()};
    m.variables.resize(1);
    m.variables[0].name = "v";
    EXPECT_EQ(shape_of(m, *m.find_variable("v"), {2, 4, 0}).value().bytes, 7);
}

std::optional<int64_t> largest(const std::string& dimension) {
    const model m =
        read(with_head("parameters: {nx: 100, n: {value: 1, mutable: true, max: 10}, u: {value: 1, mutable: true}}\n"
                       "data: {layouts: {l: {type: int8, dimensions: ['" +
                       dimension + "']}}, variables: {v: {layout: l, when-full: spill}}}\n"));
    return largest_bytes(m, m.variables[0], {3, 4, 0});
}

TEST(largest_bytes, covers_all_values_of_mutable_parameters) {
    EXPECT_EQ(largest("nx"), 100);
    EXPECT_EQ(largest("nx + rank"), 103);
    EXPECT_EQ(largest("nx - n"), 100);
    EXPECT_EQ(largest("nx / (n + 1)"), 100);
    EXPECT_EQ(largest("n * n"), 100);
    EXPECT_EQ(largest("max(n, 3)"), 10);
    EXPECT_EQ(largest("min(n, 3)"), 3);
    EXPECT_EQ(largest("nx % (n + 1)"), 11);
    EXPECT_EQ(largest("ceil(n / 3.0 + 0.1)"), 4);
    EXPECT_EQ(largest("0 - n"), 0);
    EXPECT_EQ(largest("u"), std::nullopt);
    EXPECT_EQ(largest("nx / n"), std::nullopt);
}

}  // namespace
}  // namespace halcyon::offload
