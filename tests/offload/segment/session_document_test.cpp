#include "offload/segment/session_document.hpp"

#include <gtest/gtest.h>

namespace halcyon::offload {
namespace {

session_document example() {
    session_document d;
    d.session = "0123abcd";
    d.run = "4567ef";
    d.configuration = "simulation: \"quoted\"\n\tθ\n";
    d.configuration_name = "a b.yaml";
    d.directory = "/scratch/π";
    d.writer = "n0003";
    d.node = 3;
    d.nodes = 5;
    d.ranks = 40;
    d.client_ranks = {24, 25};
    d.client_cpus = {"0-3,8", ""};
    d.server_of_machine = 1;
    d.parameters = {{"dt", 0.1}, {"nx", 64}};
    d.geometry.clients = 2;
    d.geometry.blocks_per_client = 70;
    d.geometry.client_blocks = 17;
    d.geometry.event_slots = 256;
    d.geometry.return_slots = 128;
    d.geometry.steerable = 3;
    d.geometry.arena_bytes = uint64_t{1} << 40;
    d.geometry.arena_alignment = uint64_t{1} << 21;
    d.geometry.bytes = uint64_t{3} << 40;
    return d;
}

TEST(a_session_document, comes_back_as_it_was_written) {
    const session_document was = example();
    const auto read = session_document::from_text(was.to_text());
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(*read == was) << read->to_text();
}

TEST(a_session_document, is_refused_whatever_part_of_it_is_missing) {
    const std::string text = example().to_text();
    for (size_t bytes = 0; bytes < text.size(); ++bytes)
        ASSERT_FALSE(session_document::from_text(std::string_view(text).substr(0, bytes)).ok()) << bytes;
    for (const char* key : {"session", "writer", "nodes", "client_ranks", "client_cpus", "parameters", "bytes"}) {
        std::string without = text;
        without.replace(without.find("\"" + std::string(key) + "\"") + 1, 1, "_");
        EXPECT_FALSE(session_document::from_text(without).ok()) << key;
    }
}

TEST(a_session_document, must_have_a_rank_for_each_client) {
    session_document d = example();
    d.client_ranks.pop_back();
    EXPECT_FALSE(session_document::from_text(d.to_text()).ok());
}

}  // namespace
}  // namespace halcyon::offload
