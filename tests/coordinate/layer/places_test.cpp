// Files of backends: each call takes the turn of the file system to which its bytes go.
#include "coordinate/layer/called_layer.hpp"

namespace halcyon::tests {
namespace {

using calls::data_places;

class places_test : public layer_test {
  protected:
    void place(called_process& of, const std::vector<std::pair<std::string, unsigned>>& all) {
        data_places places;
        for (const auto& [directory, uses] : all) places.add(directory, uses);
        of.layer().on_places({coordinated_file, "/scratch/data", calls::none, 0}, places);
    }
    [[nodiscard]] int64_t waiting(size_t at) const { return page_.observe(at, 0, monotonic_ns()).waiting; }
    void hold_back(size_t at) { page_.publish(at, permission::waiting, 0, {}); }
    void let(size_t at) { page_.publish(at, permission::allowed, 0, int64_t{1} << 40U); }
};

TEST_F(places_test, bytes_take_the_turn_of_where_they_go) {
    hold_back(0);
    let(1);
    called_process process(page_, 1);
    place(process, {{"/burst/logs", data_places::writes}, {"/scratch/data", data_places::reads | data_places::syncs}});
    for (const bool beside_layers : {false, true}) {
        const int64_t before = process.part(1).moved;
        EXPECT_EQ(process.call({.beside_layers = beside_layers}), 0);
        EXPECT_EQ(process.part(1).moved - before, 4096);
    }
    for (const call_id function : {call_id::pread, call_id::fsync}) {
        hold_back(0);
        std::thread caller([&] { process.call({.function = function}); });
        wait_until([&] { return waiting(0) == 1; });
        let(0);
        caller.join();
    }
    EXPECT_EQ(process.part(0).unasked, 0);
}

TEST_F(places_test, bytes_that_stay_on_the_node_wait_for_nobody) {
    hold_back(0);
    called_process process(page_, 1);
    place(process, {{"/local/stage", data_places::writes | data_places::reads}, {"/scratch/data", data_places::syncs}});
    for (const bool beside_layers : {false, true}) {
        for (const call_id function : {call_id::pwrite, call_id::pread, call_id::fwrite, call_id::fflush})
            EXPECT_EQ(process.call({.function = function, .beside_layers = beside_layers}), 0);
    }
    EXPECT_EQ(process.part(0).moved + process.part(0).unasked, 0);
}

TEST_F(places_test, a_call_that_leads_to_several_waits_for_one_after_the_other) {
    called_process process(page_, 1);
    place(process, {{"/scratch/logs", data_places::reads}, {"/burst/logs", data_places::reads}});
    for (const bool beside_layers : {false, true}) {
        hold_back(0);
        hold_back(1);
        const int64_t before = process.part(0).moved;
        std::thread caller([&] { process.call({.function = call_id::pread, .beside_layers = beside_layers}); });
        wait_until([&] { return waiting(1) == 1; });
        EXPECT_EQ(waiting(0), 0);
        let(1);
        wait_until([&] { return waiting(0) == 1; });
        EXPECT_EQ(waiting(1), 0);
        let(0);
        caller.join();
        EXPECT_EQ(process.part(0).moved - before, 4096);
        EXPECT_EQ(process.part(1).moved, 0);
        EXPECT_EQ(page_.observe(1, 0, monotonic_ns()).under_way, 0);
    }
}

TEST_F(places_test, a_file_that_is_the_kernels_again_lies_where_its_path_says) {
    hold_back(0);
    let(1);
    called_process process(page_, 1);
    place(process, {{"/burst/logs", data_places::writes | data_places::syncs}});
    EXPECT_EQ(process.call({}), 0);
    place(process, {});
    std::thread caller([&] { process.call({}); });
    wait_until([&] { return waiting(0) == 1; });
    let(0);
    caller.join();
    EXPECT_EQ(process.part(0).moved, 4096);
}

TEST(data_places, are_added_up_by_directory_and_differ_by_their_sum) {
    data_places places;
    EXPECT_TRUE(places.empty());
    EXPECT_EQ(places.sum(), 0U);
    places.add("/a", data_places::reads);
    const uint64_t one = places.sum();
    places.add("/a", data_places::writes);
    EXPECT_NE(places.sum(), one);
    EXPECT_NE(places.sum(), 0U);
    places.add(std::string(PATH_MAX, 'x'), data_places::syncs);  // no room
    for (size_t i = 0; i < 2 * data_places::most; ++i) places.add("/" + std::to_string(i), data_places::syncs);
    size_t count = 0;
    places.each([&](std::string_view directory, unsigned uses) {
        if (count++ != 0) return;
        EXPECT_EQ(directory, "/a");
        EXPECT_EQ(uses, unsigned{data_places::reads} | unsigned{data_places::writes});
    });
    EXPECT_EQ(count, data_places::most);
}

}  // namespace
}  // namespace halcyon::tests
