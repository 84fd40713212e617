#include "configuration.hpp"

#include <cmath>

namespace halcyon::offload {
namespace {

using namespace std::chrono_literals;

TEST(configuration, every_key_reaches_the_model) {
    const model m = read(full_configuration());
    EXPECT_EQ(m.simulation, "cloud");
    EXPECT_EQ(m.servers_per_node, 2);
    EXPECT_EQ(m.buffer.bytes, 1'610'612'736);
    EXPECT_EQ(m.buffer.blocks_per_client, 4096);
    EXPECT_EQ(m.buffer.max_pending_signals, 512);
    EXPECT_EQ(m.buffer.spill_directory, "/scratch");
    EXPECT_EQ(m.buffer.max_spill_bytes, 10'000'000'000);
    EXPECT_FALSE(m.buffer.huge_pages);
    EXPECT_EQ(m.server.threads, 2);
    EXPECT_EQ(m.server.spin, 5us);
    EXPECT_EQ(m.server.turns, turns::transfer_slots);
    EXPECT_EQ(m.server.max_restarts, 1);
    EXPECT_EQ(m.server.log_directory, "logs");
    EXPECT_EQ(m.server.retry, 2s);
    EXPECT_EQ(m.server.hang_timeout, 30s);
    const store& main = *m.find_store("main");
    EXPECT_EQ(main.type, "hdf5");
    EXPECT_EQ(main.path, "out");
    EXPECT_EQ(main.iterations_per_file, 4);
    EXPECT_EQ(main.view_interval, 500ms);
    EXPECT_TRUE(main.durable);
    EXPECT_FALSE(main.collective);
    EXPECT_TRUE(main.index);
    EXPECT_EQ(main.expected_reader, reader::time_series);
    EXPECT_TRUE(main.checksum);
    EXPECT_TRUE(main.replace_existing);
    EXPECT_FALSE(m.find_store("scratch")->replace_existing);
    EXPECT_EQ(m.stores.size(), 2u);
    const event& checkpoint = *m.find_event("checkpoint");
    EXPECT_EQ(checkpoint.scope, scope::job);
    EXPECT_EQ(checkpoint.action_ids, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(m.find_event("look")->scope, scope::client);
    EXPECT_EQ(m.find_event("look")->id, 1u);
    EXPECT_EQ(m.actions[0].store, "main");
    EXPECT_EQ(m.actions[1].type, "log");
    EXPECT_EQ(m.actions[2].module, "./libmine.so");
    EXPECT_EQ(m.actions[2].function, "f");
    EXPECT_EQ(m.actions[2].options, (std::map<std::string, std::string>{{"k", "v"}, {"depth", "3"}, {"fast", "true"}}));
    EXPECT_EQ(m.meshes[2].cell_sizes, "sizes");
    EXPECT_EQ(m.meshes[0].coordinates, (std::vector<std::string>{"z", "y", "x"}));
    EXPECT_EQ(m.curves[0].y, "fields/mean");
}

TEST(configuration, a_variables_attributes_reach_the_model) {
    const model m = read(full_configuration());
    const variable& theta = *m.find_variable("theta");
    EXPECT_EQ(m.layouts[theta.layout_id].name, "grid");
    EXPECT_EQ(m.places[*theta.place_id].name, "whole");
    EXPECT_EQ(m.meshes[*theta.mesh_id].name, "box");
    EXPECT_EQ(theta.unit, "K");
    EXPECT_EQ(theta.description, "potential temperature");
    EXPECT_EQ(theta.centered, centering::cell);
    EXPECT_EQ(theta.store, "main");
    EXPECT_TRUE(theta.visualizable);
    EXPECT_TRUE(theta.time_varying);
    EXPECT_EQ(theta.precision, precision::bitround);
    EXPECT_EQ(theta.significant_bits, 12);
    EXPECT_EQ(theta.compression, compression::when_idle);
    EXPECT_EQ(theta.when_full, full_policy::spill);
    EXPECT_FALSE(m.find_variable("x")->time_varying);
    EXPECT_EQ(m.find_variable("swarm/position")->when_full, full_policy::run_inline);
    EXPECT_EQ(m.find_variable("cells")->store, "");
    for (const variable& v : m.variables) EXPECT_EQ(&m.variables[v.id], m.find_variable(v.name));
}

TEST(configuration, groups_hand_their_attributes_down) {
    const model m = read(full_configuration());
    const variable& qv = *m.find_variable("fields/qv");
    EXPECT_EQ(qv.store, "scratch");
    EXPECT_EQ(qv.compression, compression::zstd);
    EXPECT_EQ(qv.compression_level, 12);
    EXPECT_EQ(qv.when_full, full_policy::block);
    const variable& qc = *m.find_variable("fields/qc");
    EXPECT_EQ(qc.compression, compression::none);
    EXPECT_EQ(qc.precision, precision::half);
    const variable& w = *m.find_variable("fields/fast/w");
    EXPECT_EQ(w.when_full, full_policy::skip);
    EXPECT_EQ(w.compression, compression::zstd);
    EXPECT_EQ(m.layouts[w.layout_id].name, "grid");
    EXPECT_EQ(w.unit, "m s-1");
    EXPECT_EQ(m.find_variable("w"), nullptr);
}

TEST(configuration, two_lines_are_enough) {
    const model m = read(with_head(""));
    EXPECT_EQ(m.simulation, "cloud");
    EXPECT_TRUE(m.variables.empty());
    EXPECT_EQ(m.buffer.bytes, int64_t{256} << 20);
    EXPECT_EQ(m.find_variable("theta"), nullptr);
    EXPECT_EQ(m.find_store("main"), nullptr);
}

TEST(configuration, the_only_store_is_every_variables_default) {
    const std::string data =
        "data:\n  layouts: {l: {type: int8, dimensions: [2]}}\n"
        "  variables:\n    a: {layout: l}\n    b: {layout: l, store: false}\n";
    const model with = read(with_head(data + "stores: {only: {path: out}}\n"));
    EXPECT_EQ(with.find_variable("a")->store, "only");
    EXPECT_EQ(with.find_variable("b")->store, "");
    EXPECT_EQ(read(with_head(data)).find_variable("a")->store, "");
}

TEST(configuration, when_full_of_the_buffer_is_every_variables_default) {
    const model m =
        read(with_head("data:\n  layouts: {l: {type: int8, dimensions: [2]}}\n  variables: {a: {layout: l}}\n"
                       "resources: {buffer: {when-full: skip}}\n"));
    EXPECT_EQ(m.find_variable("a")->when_full, full_policy::skip);
}

TEST(configuration, names_may_be_any_utf8) {
    const model m = read(
        "halcyon: 1\nsimulation: 'wärme süd'\ndata:\n  layouts: {l: {type: int8, dimensions: []}}\n"
        "  variables: {'θ 値': {layout: l, unit: °C}, 1: {layout: l}, true: {layout: l}}\n");
    EXPECT_EQ(m.simulation, "wärme süd");
    EXPECT_EQ(m.find_variable("θ 値")->unit, "°C");
    EXPECT_NE(m.find_variable("1"), nullptr);
    EXPECT_NE(m.find_variable("true"), nullptr);
}

TEST(configuration, overrides_are_in_place_before_anything_is_evaluated) {
    const std::string text = with_head(
        "parameters: {nx: -1, n: {value: 1, mutable: true, max: 5}}\n"
        "data: {layouts: {l: {type: int8, dimensions: [nx, n]}}, variables: {a: {layout: l}}}\n");
    EXPECT_NE(refusal(text), "accepted");
    const model m = read(text, {{"nx", 8}, {"n", 3}});
    EXPECT_EQ(shape_of(m, m.variables[0], {}).value().bytes, 24);
    const auto failure_of = [&](const std::map<std::string, double>& overrides) {
        const auto parsed = parse_model(text, "cloud.yaml", overrides);
        return parsed.ok() ? failure{} : parsed.why();
    };
    EXPECT_EQ(failure_of({{"ny", 1}}).kind, error_kind::usage);
    EXPECT_EQ(failure_of({{"ny", 1}}).message, "no parameter 'ny'; known parameters: n, nx");
    EXPECT_EQ(failure_of({{"n", 6}}).message, "parameter 'n': 6 is too large; its max is 5");
    EXPECT_EQ(failure_of({{"nx", NAN}}).message, "parameter 'nx': nan is not a finite number");
}

TEST(configuration, mutable_parameters_can_be_set_within_their_bounds) {
    model m = read(with_head("parameters: {nx: 4, n: {value: 1, mutable: true, max: 5}}\n"));
    EXPECT_TRUE(m.set_parameter("n", 5).ok());
    EXPECT_EQ(m.find_parameter("n")->value, 5);
    EXPECT_EQ(m.set_parameter("n", 5.5).why().message, "parameter 'n': 5.5 is too large; its max is 5");
    EXPECT_EQ(m.set_parameter("n", -1).why().message, "parameter 'n': -1 is too small; its min is 0");
    EXPECT_EQ(m.set_parameter("n", INFINITY).why().message, "parameter 'n': inf is not a finite number");
    EXPECT_EQ(m.set_parameter("nx", 5).why().kind, error_kind::usage);
    EXPECT_EQ(m.set_parameter("q", 5).why().message, "no parameter 'q'; known parameters: n, nx");
    EXPECT_EQ(m.find_parameter("n")->value, 5);
}

TEST(configuration, steerable_parameters_are_mutable) {
    model m = read(
        with_head("parameters: {a: 1, k: {value: 2, min: -1, max: 5, steerable: true}, n: {value: 1, mutable: true}}\n"
                  "data: {layouts: {l: {type: int8, dimensions: [k]}}, variables: {v: {layout: l}}}\n"));
    EXPECT_EQ(m.steerable(), (std::vector<uint32_t>{1}));
    EXPECT_FALSE(keeps_place(m, m.variables[0]));
    EXPECT_EQ(largest_bytes(m, m.variables[0], {}), 5);
    EXPECT_TRUE(m.set_parameter("k", 4).ok());
    EXPECT_EQ(m.set_parameter("k", 6).why().message, "parameter 'k': 6 is too large; its max is 5");
}

TEST(configuration, a_thousand_groups_of_variables_are_read) {
    std::string text = with_head("data:\n  layouts: {l: {type: int8, dimensions: [2]}}\n  groups:\n");
    for (int g = 0; g < 1000; ++g) {
        text += "    g" + std::to_string(g) + ":\n      layout: l\n      variables:\n";
        for (int v = 0; v < 20; ++v) {
            text += "        v" + std::to_string(v) +
                    ": {unit: K, compression: {type: gzip, level: 3}, description: 'a "
                    "description of some length'}\n";
        }
    }
    ASSERT_GT(text.size(), size_t{1} << 20);
    const model m = read(text);
    EXPECT_EQ(m.variables.size(), 20'000u);
    EXPECT_EQ(m.find_variable("g999/v19")->id, 19'999u);
}

}  // namespace
}  // namespace halcyon::offload
