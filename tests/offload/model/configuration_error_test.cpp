#include "configuration.hpp"

namespace halcyon::offload {
namespace {

/// A configuration with one layout, one store and `variables` (from line 7 on, four spaces of indentation).
std::string with_variables(const std::string& variables, const std::string& rest = "") {
    return with_head(
        "parameters: {nx: 8}\ndata:\n  layouts: {grid: {type: float32, dimensions: [nx]}, surface: {type: int32, "
        "dimensions: [nx, nx]}}\n  variables:\n" +
        variables + rest);
}

TEST(configuration_error, nothing_is_not_a_configuration) {
    EXPECT_EQ(refusal(""), "cloud.yaml:1: the file is empty");
    EXPECT_EQ(refusal("- a\n"), "cloud.yaml:1: a list of 1 does not fit; expected a map");
    EXPECT_EQ(refusal("simulation: x\n"), "cloud.yaml:1: 'halcyon' is missing");
    EXPECT_EQ(refusal("{}"), "cloud.yaml:1: 'halcyon', 'simulation' are missing");
}

TEST(configuration_error, another_version_is_refused) {
    EXPECT_EQ(refusal("halcyon: 2\nsimulation: x\n"),
              "cloud.yaml:1: halcyon: 2 (a whole number) is not known; expected 1, the version of the format");
}

TEST(configuration_error, a_misspelt_key_names_the_right_one) {
    EXPECT_EQ(
        refusal(with_head("resource: {}\n")),
        "cloud.yaml:3: resource: unknown key; did you mean 'resources'?; known keys: actions, close, data, events, "
        "halcyon, inline, parameters, resources, simulation, stores");
    EXPECT_EQ(refusal(with_variables("    theta:\n      layout: grid\n      units: K\n")),
              "cloud.yaml:9: data.variables.theta.units: unknown key; did you mean 'unit'?; known keys: "
              "blocks-per-client, centering, compression, description, layout, mesh, place, precision, store, "
              "time-varying, unit, visualizable, when-full");
}

TEST(configuration_error, the_name_of_the_stores_own_tables_is_refused) {
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid}\n    .halcyon: {layout: grid}\n")),
              "cloud.yaml:8: data.variables..halcyon: the name of this variable is kept for the store's own tables; "
              "choose another");
    EXPECT_EQ(
        refusal(with_variables("    a: {layout: grid}\n", "  groups: {.halcyon: {variables: {x: {layout: grid}}}}\n")),
        "cloud.yaml:8: data.groups..halcyon: the name of this group is kept for the store's own tables; "
        "choose another");
    // Deeper it is a name as any other.
    EXPECT_EQ(
        refusal(with_variables("    a: {layout: grid}\n", "  groups: {g: {variables: {.halcyon: {layout: grid}}}}\n")),
        "accepted");
}

TEST(configuration_error, a_hang_timeout_in_which_no_server_can_start_is_refused) {
    const auto with_timeout = [](const std::string& value) {
        return refusal(with_head("resources: {server: {hang-timeout: " + value + "}}\n"));
    };
    EXPECT_EQ(with_timeout("0 s"),
              "cloud.yaml:3: resources.server.hang-timeout: '0 s' is too short for a server to start in, or to show "
              "that it lives; at least 1 s");
    EXPECT_NE(with_timeout("999 ms"), "accepted");
    EXPECT_EQ(with_timeout("1 s"), "accepted");
}

TEST(configuration_error, turns_are_said_in_one_way) {
    const auto with_server = [](const std::string& keys) {
        return refusal(with_head("resources: {server: {" + keys + "}}\n"));
    };
    EXPECT_EQ(
        with_server("turns: coordinator, transfer-slots: true"),
        "cloud.yaml:3: resources.server.transfer-slots: true is the same as 'turns: transfer-slots', and 'turns' is "
        "'coordinator'; leave one of the two out");
    EXPECT_NE(with_server("turns: none, transfer-slots: true"), "accepted");
    EXPECT_EQ(with_server("turns: transfer-slots, transfer-slots: true"), "accepted");
    EXPECT_EQ(with_server("turns: coordinator, transfer-slots: false"), "accepted");
}

TEST(configuration_error, a_misspelt_layout_names_the_known_ones) {
    EXPECT_EQ(refusal(with_variables("    theta: {layout: grid}\n    qv:\n      unit: K\n      layout: grid3d\n")),
              "cloud.yaml:10: data.variables.qv.layout: no layout 'grid3d'; known layouts: grid, surface");
}

TEST(configuration_error, other_references_name_the_known_ones) {
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, place: p}\n")),
              "cloud.yaml:7: data.variables.a.place: no place 'p'; known places: none");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, mesh: m}\n")),
              "cloud.yaml:7: data.variables.a.mesh: no mesh 'm'; known meshes: none");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, store: s}\n", "stores: {main: {path: out}}\n")),
              "cloud.yaml:7: data.variables.a.store: no store 's'; known stores: main");
    EXPECT_EQ(
        refusal(with_variables("    a: {layout: grid}\n", "  meshes:\n    m: {type: points, coordinates: [a, b]}\n")),
        "cloud.yaml:9: data.meshes.m.coordinates[1]: no variable 'b'; known variables: a");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid}\n",
                                     "  meshes:\n    m:\n      type: unstructured\n"
                                     "      coordinates: [a]\n      cells: c\n      cell-types: a\n")),
              "cloud.yaml:12: data.meshes.m.cells: no variable 'c'; known variables: a");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid}\n", "  curves: {c: {x: a, y: b}}\n")),
              "cloud.yaml:8: data.curves.c.y: no variable 'b'; known variables: a");
    EXPECT_EQ(refusal(with_head("actions: {a: {type: log}}\nevents: {e: {actions: [a, b]}}\n")),
              "cloud.yaml:4: events.e.actions[1]: no action 'b'; known actions: a");
    EXPECT_EQ(refusal(with_head("stores: {main: {path: out}}\nactions: {a: {type: store, store: other}}\n")),
              "cloud.yaml:4: actions.a.store: no store 'other'; known stores: main");
}

TEST(configuration_error, a_groups_mistake_is_reported_at_the_group) {
    EXPECT_EQ(
        refusal(with_head("data:\n  layouts: {l: {type: int8, dimensions: []}}\n  groups:\n    g:\n      store: s\n"
                          "      variables: {a: {layout: l}}\n")),
        "cloud.yaml:7: data.groups.g.store: no store 's'; known stores: none");
}

TEST(configuration_error, scalar_types_are_listed) {
    EXPECT_EQ(
        refusal(with_head("data: {layouts: {l: {type: double, dimensions: []}}}\n")),
        "cloud.yaml:3: data.layouts.l.type: 'double' is not known; did you mean 'float64'?; expected int8, int16, "
        "int32, int64, uint8, uint16, uint32, uint64, float32 or float64");
    EXPECT_EQ(refusal(with_head("data: {layouts: {l: {type: complex, dimensions: []}}}\n")),
              "cloud.yaml:3: data.layouts.l.type: 'complex' is not known; expected int8, int16, int32, int64, uint8, "
              "uint16, uint32, uint64, float32 or float64");
}

std::string layout_refusal(const std::string& dimensions, const std::string& parameters = "{nx: 8, px: 0, big: 3e9}") {
    return refusal(with_head("parameters: " + parameters +
                             "\ndata:\n  layouts:\n    l:\n      type: float64\n"
                             "      dimensions: " +
                             dimensions + "\n"));
}

TEST(configuration_error, dimensions_must_make_sense) {
    const std::string at = "cloud.yaml:8: data.layouts.l.dimensions";
    EXPECT_EQ(layout_refusal("[nx, ny]"), at + "[1]: no parameter 'ny'; known names: big, block, nx, px, rank, size");
    EXPECT_EQ(layout_refusal("[nx +]"), at + "[0]: expected a number, a name or '(' at column 5 of 'nx +'");
    EXPECT_EQ(layout_refusal("[nx - 9]"), at + "[0]: 'nx - 9' is -1; expected 0 or more");
    EXPECT_EQ(layout_refusal("[nx / px]"), at + "[0]: 'nx / px' divides by zero");
    EXPECT_EQ(layout_refusal("[nx * 0.3]"), at + "[0]: 'nx * 0.3' is 2.4; expected a whole number within ±2^53");
    EXPECT_EQ(layout_refusal("[big, big]"), at + ": the block has more than 2^62 bytes");
    EXPECT_EQ(layout_refusal("[big * big]"),
              at + "[0]: 'big * big' exceeds 2^53, beyond which whole numbers are not exact");
    EXPECT_EQ(layout_refusal("[1, 1, 1, 1, 1, 1, 1, 1]"), at + ": a list of 8 is too long; expected at most 7");
    EXPECT_EQ(layout_refusal("[min(nx, 4)]"),
              at + "[0]: expected ',' at column 7 of 'min(nx'; an expression with a comma must be quoted");
    EXPECT_EQ(layout_refusal("['min(nx, 4)']"), "accepted");
    EXPECT_EQ(layout_refusal("[1.5]"),
              at + "[0]: 1.5 (a number) does not fit; expected a whole number or an expression such as nx/px + 2");
    EXPECT_EQ(layout_refusal("8"), at + ": 8 (a whole number) does not fit; expected a list");
}

TEST(configuration_error, numbers_are_finite) {
    EXPECT_EQ(refusal(with_head("parameters:\n  a: .nan\n")), "cloud.yaml:4: '.nan' is not a finite number");
    EXPECT_EQ(
        refusal(with_head("parameters: {a: nan}\n")),
        "cloud.yaml:3: parameters.a: 'nan' (a string) does not fit; expected a number or a map with value, mutable, "
        "min, max and steerable");
}

TEST(configuration_error, parameters_are_named_as_expressions_can) {
    EXPECT_EQ(refusal(with_head("parameters: {rank: 1}\n")),
              "cloud.yaml:3: parameters.rank: 'rank' is built in; choose another name");
    EXPECT_EQ(
        refusal(with_head("parameters: {n-x: 1}\n")),
        "cloud.yaml:3: parameters.n-x: 'n-x' cannot be used in expressions; a name is a letter or '_', then letters, "
        "digits and '_', and not min, max or ceil");
    EXPECT_TRUE(refusal(with_head("parameters: {max: 1}\n")).find("cannot be used") != std::string::npos);
}

TEST(configuration_error, bounds_belong_to_mutable_parameters) {
    EXPECT_EQ(refusal(with_head("parameters: {n: {value: 1, max: 2}}\n")),
              "cloud.yaml:3: parameters.n.max: only a parameter with 'mutable: true' has bounds");
    EXPECT_EQ(refusal(with_head("parameters: {n: {value: 3, mutable: true, max: 2}}\n")),
              "cloud.yaml:3: parameters.n.value: parameter 'n': 3 is too large; its max is 2");
    EXPECT_EQ(refusal(with_head("parameters: {n: {value: 3, mutable: true, max: -2}}\n")),
              "cloud.yaml:3: parameters.n.max: max is below min");
}

TEST(configuration_error, steerable_parameters_have_bounds_and_change) {
    EXPECT_EQ(refusal(with_head("parameters: {k: {value: 1, min: 0, max: 2, steerable: true}}\n")), "accepted");
    EXPECT_EQ(refusal(with_head("parameters: {k: {value: 1, min: 0, steerable: true}}\n")),
              "cloud.yaml:3: parameters.k.steerable: needs 'max': values from outside the simulation are checked "
              "against bounds");
    EXPECT_EQ(refusal(with_head("parameters: {k: {value: 1, max: 2, steerable: true}}\n")),
              "cloud.yaml:3: parameters.k.steerable: needs 'min': values from outside the simulation are checked "
              "against bounds");
    EXPECT_EQ(refusal(with_head("parameters: {k: {value: 1, min: 0, max: 2, steerable: true, mutable: false}}\n")),
              "cloud.yaml:3: parameters.k.mutable: a steerable parameter changes while the simulation runs; leave out "
              "'mutable: false'");
    std::string many;
    for (int i = 0; i <= 64; ++i) many += "  k" + std::to_string(i) + ": {value: 1, min: 0, max: 2, steerable: true}\n";
    EXPECT_EQ(refusal(with_head("parameters:\n" + many)),
              "cloud.yaml:3: parameters: 65 parameters are steerable; at most 64");
}

TEST(configuration_error, a_layout_without_largest_size_needs_spill) {
    const std::string text = with_head(
        "parameters: {n: {value: 1, mutable: true}}\ndata:\n  layouts: {l: {type: int8, dimensions: [n]}}\n"
        "  variables:\n    a: {layout: l, when-full: spill}\n");
    EXPECT_EQ(refusal(text), "accepted");
    EXPECT_EQ(
        refusal(text + "    b: {layout: l}\n"),
        "cloud.yaml:8: data.variables.b: layout 'l' has no largest size, because parameter 'n' is mutable without "
        "'max'; give it one, or use 'when-full: spill' here");
}

TEST(configuration_error, ranks_must_agree) {
    EXPECT_EQ(
        refusal(with_variables("    a: {layout: surface, place: p}\n", "  places: {p: {global: [8], offset: [0]}}\n")),
        "cloud.yaml:7: data.variables.a: layout 'surface' has 2 dimensions, but place 'p' has 1");
    EXPECT_EQ(refusal(with_head("data: {places: {p: {global: [8, 8], offset: [0]}}}\n")),
              "cloud.yaml:3: data.places.p.offset: has 1 dimensions, but 'global' has 2");
    EXPECT_EQ(refusal(with_head("data: {places: {p: {global: [8], offset: [0], ghost: [1, 1]}}}\n")),
              "cloud.yaml:3: data.places.p.ghost: has 2 dimensions, but 'global' has 1");
    EXPECT_EQ(refusal(with_head("data: {places: {p: {global: [8], offset: [0], ghost: [[1, 1, 1]]}}}\n")),
              "cloud.yaml:3: data.places.p.ghost[0]: a list of 3 is too long; expected at most 2");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, mesh: m}\n    b: {layout: grid}\n",
                                     "  meshes: {m: {type: rectilinear, coordinates: [a, b]}}\n")),
              "cloud.yaml:7: data.variables.a: layout 'grid' has 1 dimensions, but mesh 'm' has 2");
    EXPECT_EQ(
        refusal(with_variables("    a: {layout: surface}\n", "  meshes: {m: {type: rectilinear, coordinates: [a]}}\n")),
        "cloud.yaml:8: data.meshes.m.coordinates[0]: a coordinate of a rectilinear mesh is a list, but 'a' has 2 "
        "dimensions");
}

TEST(configuration_error, cells_belong_to_unstructured_meshes) {
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid}\n",
                                     "  meshes: {m: {type: points, coordinates: [a], cells: a}}\n")),
              "cloud.yaml:8: data.meshes.m.cells: only an unstructured mesh has cells; this one is points");
    EXPECT_EQ(
        refusal(with_variables("    a: {layout: grid}\n", "  meshes: {m: {type: unstructured, coordinates: [a]}}\n")),
        "cloud.yaml:8: data.meshes.m: an unstructured mesh needs 'cells' and 'cell-types'");
}

TEST(configuration_error, a_variable_needs_a_layout) {
    EXPECT_EQ(refusal(with_variables("    a: {unit: K}\n")),
              "cloud.yaml:7: data.variables.a: 'layout' is missing, here and in the groups around it");
}

TEST(configuration_error, with_several_stores_a_variable_says_which) {
    const std::string stores = "stores: {one: {path: a}, two: {path: b}}\n";
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid}\n", stores)),
              "cloud.yaml:7: data.variables.a: there are several stores (one, two); say which with 'store: …', or "
              "'store: false'");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, store: two}\n", stores)), "accepted");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, store: true}\n", stores)),
              "cloud.yaml:7: data.variables.a.store: true is not known; expected false");
}

TEST(configuration_error, names_that_would_break_files_are_refused) {
    EXPECT_EQ(refusal("halcyon: 1\nsimulation: a/b\n"),
              "cloud.yaml:2: simulation: the name of this simulation holds '/', which separates groups");
    EXPECT_EQ(refusal("halcyon: 1\nsimulation: \"a\\nb\"\n"),
              "cloud.yaml:2: simulation: the name of this simulation holds a control character");
    EXPECT_EQ(refusal("halcyon: 1\nsimulation: .cloud\n"),
              "cloud.yaml:2: simulation: the name begins with '.', so its files would be hidden");
    EXPECT_EQ(refusal("halcyon: 1\nsimulation: " + std::string(121, 'x') + "\n"),
              "cloud.yaml:2: simulation: the name has 121 bytes; at most 120");
    EXPECT_EQ(refusal("halcyon: 1\nsimulation: ''\n"),
              "cloud.yaml:2: simulation: '' is too short; expected at least 1");
    EXPECT_EQ(refusal(with_variables("    g/a: {layout: grid}\n")),
              "cloud.yaml:7: data.variables.g/a: the name of this variable holds '/', which separates groups");
    EXPECT_EQ(refusal(with_variables("    '': {layout: grid}\n")),
              "cloud.yaml:7: data.variables.: the name of this variable is empty");
    EXPECT_EQ(refusal(with_variables("    ..: {layout: grid}\n")),
              "cloud.yaml:7: data.variables...: the name of this variable is a path, not a name");
}

TEST(configuration_error, a_name_is_given_once) {
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid}\n    a: {layout: surface}\n")),
              "cloud.yaml:8: the key 'a' is given twice; first on line 7");
    EXPECT_EQ(
        refusal(with_variables("    a: {layout: grid}\n", "  groups:\n    a: {variables: {b: {layout: grid}}}\n")),
        "cloud.yaml:9: data.groups.a: there is also a variable 'a' (cloud.yaml:7: data.variables.a)");
}

TEST(configuration_error, precision_fits_the_type) {
    EXPECT_EQ(
        refusal(with_variables("    a: {layout: surface, precision: half}\n")),
        "cloud.yaml:7: data.variables.a: precision 'half' needs a floating-point type, but layout 'surface' is int32");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, precision: {bitround: 23}}\n")),
              "cloud.yaml:7: data.variables.a: bitround: 23 keeps all bits; the mantissa of float32 has 23");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, precision: {bitround: 0}}\n")),
              "cloud.yaml:7: data.variables.a.precision.bitround: 0 is too small; expected at least 1");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, precision: bitround}\n")),
              "cloud.yaml:7: data.variables.a.precision: 'bitround' is not known; expected full or half");
}

TEST(configuration_error, compression_levels_fit_the_method) {
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, compression: {type: gzip, level: 10}}\n")),
              "cloud.yaml:7: data.variables.a.compression.level: 10 is too large for gzip; expected at most 9");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, compression: {type: none, level: 1}}\n")),
              "cloud.yaml:7: data.variables.a.compression.level: 'none' has no level");
    EXPECT_EQ(refusal(with_variables("    a: {layout: grid, compression: lz4}\n")),
              "cloud.yaml:7: data.variables.a.compression: 'lz4' is not known; expected none, gzip, zstd or when-idle");
}

TEST(configuration_error, actions_have_the_keys_of_their_type) {
    EXPECT_EQ(refusal(with_head("actions: {a: {type: log, store: s}}\n")),
              "cloud.yaml:3: actions.a.store: belongs to type store, but this action is of type log");
    EXPECT_EQ(refusal(with_head("actions: {a: {type: module, module: m.so}}\n")),
              "cloud.yaml:3: actions.a: an action of type module needs 'module' and 'function'");
    EXPECT_EQ(refusal(with_head("actions: {a: {type: store}}\n")),
              "cloud.yaml:3: actions.a: there is no store to store into");
    EXPECT_EQ(refusal(with_head("actions: {a: {type: store}}\nstores: {one: {path: a}, two: {path: b}}\n")),
              "cloud.yaml:3: actions.a: 'store' is missing; known stores: one, two");
    EXPECT_EQ(refusal(with_head("actions: {a: {type: plot}}\n")),
              "cloud.yaml:3: actions.a.type: 'plot' is not known; expected store, log or module");
    EXPECT_EQ(refusal(with_head("events: {e: {actions: []}}\n")),
              "cloud.yaml:3: events.e.actions: a list of 0 is too short; expected at least 1");
    EXPECT_EQ(refusal(with_head("actions: {a: {type: log}}\nevents: {e: {actions: [a], scope: bcast}}\n")),
              "cloud.yaml:4: events.e.scope: 'bcast' is not known; did you mean 'job'?; expected client, node or job");
}

TEST(configuration_error, sizes_and_durations_have_units) {
    EXPECT_EQ(
        refusal(with_head("resources: {buffer: {size: 5 MegaByte}}\n")),
        "cloud.yaml:3: resources.buffer.size: '5 MegaByte' is not a size: the unit is not known; expected a number "
        "and one of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB, e.g. 256 MiB");
    EXPECT_EQ(refusal(with_head("resources: {buffer: {size: 0}}\n")),
              "cloud.yaml:3: resources.buffer.size: the buffer needs a size; 'inline: true' works without one");
    EXPECT_EQ(
        refusal(with_head("resources: {buffer: {size: -5}}\n")),
        "cloud.yaml:3: resources.buffer.size: '-5' is not a size: it is negative; expected a number and one of B, "
        "KiB, MiB, GiB, TiB, kB, MB, GB, TB, e.g. 256 MiB");
    EXPECT_EQ(
        refusal(with_head("resources:\n  server:\n    spin: 20\n")),
        "cloud.yaml:5: resources.server.spin: '20' is not a duration: the unit is missing; expected a number and one "
        "of ns, us, ms, s, min, e.g. 20 us");
    EXPECT_EQ(refusal(with_head("resources: {server: {threads: 0}}\n")),
              "cloud.yaml:3: resources.server.threads: 0 is too small; expected at least 1");
    EXPECT_EQ(
        refusal(with_head("stores: {main: {path: a, view-interval: soon}}\n")),
        "cloud.yaml:3: stores.main.view-interval: 'soon' is not a duration: it does not begin with a number; expected "
        "a number and one of ns, us, ms, s, min, e.g. 20 us");
}

TEST(configuration_error, a_store_has_a_path) {
    EXPECT_EQ(refusal(with_head("stores: {main: {type: hdf5}}\n")), "cloud.yaml:3: stores.main: 'path' is missing");
    EXPECT_EQ(refusal(with_head("stores: {main: {path: a, type: ../x}}\n")),
              "cloud.yaml:3: stores.main.type: the name of this store type holds '/', which separates groups");
}

}  // namespace
}  // namespace halcyon::offload
