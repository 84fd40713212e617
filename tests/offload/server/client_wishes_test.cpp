#include "offload/server/client_wishes.hpp"

#include <gtest/gtest.h>

namespace halcyon::offload {
namespace {

/// A server that is about to sleep looks here: a word that it overlooks would wait until its next round.
TEST(client_wishes, are_seen_once_whichever_word_says_them) {
    const model m = parse_model(
                        "halcyon: 1\nsimulation: t\n"
                        "data: {layouts: {row: {type: float32, dimensions: [4]}}, variables: {a: {layout: row}}}\n",
                        "t.yaml", {})
                        .value();
    const segment s = segment::create(plan_segment(m, 2, need_of(m, 0, 2).value()).value(), false).value();
    client_wishes wishes;
    EXPECT_FALSE(wishes.have_changed(s)) << "nobody wants anything";
    const auto is_seen_once = [&] { return wishes.have_changed(s) && !wishes.have_changed(s); };
    s.header().stored_wanted.store(0);
    EXPECT_TRUE(is_seen_once());
    s.header().durable_wanted.store(3);
    EXPECT_TRUE(is_seen_once());
    s.header().may_exit.store(1);
    EXPECT_TRUE(is_seen_once());
    for (const uint32_t client : {0U, 1U}) {
        s.page(client).waiting.store(1);
        EXPECT_TRUE(is_seen_once()) << "client " << client << " waits for room";
    }
}

}  // namespace
}  // namespace halcyon::offload
