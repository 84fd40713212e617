#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <string>

#include "logfs/container/directory/marker.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/record_coding.hpp"
#include "logfs/container/format/varint.hpp"

namespace halcyon::logfs {
namespace {

TEST(varint, every_number_comes_back) {
    for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{1} << 63, UINT64_MAX}) {
        std::array<std::byte, longest_varint> out{};
        const std::byte* const end = put_varint(out.data(), value);
        varint_source source(out.data(), end);
        EXPECT_EQ(source.next(), value);
        EXPECT_FALSE(source.failed());
        EXPECT_EQ(source.at(), end);
        varint_source cut(out.data(), end - 1);
        cut.next();
        EXPECT_TRUE(cut.failed());
    }
    for (const int64_t value : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{-4711}})
        EXPECT_EQ(unfolded(folded(value)), value);
    EXPECT_EQ(folded(-1), 1U);
}

TEST(varint, a_number_that_is_too_long_is_none) {
    std::array<std::byte, 11> out{};
    out.fill(std::byte{0xff});
    out[10] = std::byte{0};
    varint_source source(out.data(), out.data() + out.size());
    source.next();
    EXPECT_TRUE(source.failed());
}

run random_run(std::mt19937_64& random, int64_t& time_ns, int64_t& physical) {
    run what;
    what.length = static_cast<int64_t>(random() % 100000) + 1;
    what.count = random() % 3 == 0 ? 1 : static_cast<int64_t>(random() % 1000) + 2;
    if (what.count > 1) {
        what.stride = random() % 5 == 0 ? 0 : what.length + static_cast<int64_t>(random() % 100000);
        if (random() % 4 == 0) what.stride = -what.stride;
    }
    what.start =
        static_cast<int64_t>(random() % (uint64_t{1} << 50)) + (what.stride < 0 ? -what.stride * what.count : 0);
    what.physical = physical;
    physical = what.physical_end() + (random() % 10 == 0 ? 5000 : 0);
    what.first_ns = time_ns + static_cast<int64_t>(random() % 1000000);
    what.last_ns = what.first_ns + (random() % 2 == 0 ? 0 : static_cast<int64_t>(random() % 1000000));
    what.error_exponent = what.first_ns == what.last_ns ? 0 : 17;
    time_ns = what.last_ns;
    return what;
}

TEST(record_coding, every_record_comes_back) {
    std::mt19937_64 random(1);
    int64_t time_ns = 1'700'000'000'000'000'000;
    int64_t physical = 0;
    coding_base writing;
    coding_base reading;
    for (int i = 0; i < 100000; ++i) {
        record what;
        what.kind = static_cast<record_kind>(1 + random() % 6);
        run& numbers = what.what;
        const int64_t later = time_ns + static_cast<int64_t>(random() % 1000);
        switch (what.kind) {
            case record_kind::run:
                numbers = random_run(random, time_ns, physical);
                break;
            case record_kind::data_check:
                numbers.length = static_cast<int64_t>(random() % 100000) + 1;
                what.sum = static_cast<uint32_t>(random());
                break;
            default:
                numbers.count = 1;
                numbers.first_ns = numbers.last_ns = time_ns = later;
                if (what.kind != record_kind::epoch) numbers.start = static_cast<int64_t>(random() >> 2);
                if (what.kind == record_kind::hole) numbers.length = static_cast<int64_t>(random() >> 2) + 1;
        }
        std::array<std::byte, longest_record> out{};
        const size_t bytes = encode_record(what, writing, out.data());
        ASSERT_LE(bytes, longest_record);
        record back;
        ASSERT_EQ(decode_record({out.data(), bytes}, reading, back), bytes);
        ASSERT_EQ(back, what) << i;
        ASSERT_EQ(reading, writing);
    }
}

TEST(record_coding, largest_numbers_fit) {
    record what;
    what.what = {INT64_MAX / 2, INT64_MAX / 4, -(INT64_MAX / 4), 2, INT64_MAX / 4, INT64_MAX - 1, INT64_MAX, 62, 0};
    ASSERT_TRUE(is_sound(what.what));
    coding_base base{INT64_MIN, 1, INT64_MAX, 3, INT64_MIN, INT64_MIN, 0};
    coding_base again = base;
    std::array<std::byte, longest_record> out{};
    const size_t bytes = encode_record(what, base, out.data());
    EXPECT_LE(bytes, longest_record);
    record back;
    EXPECT_EQ(decode_record({out.data(), bytes}, again, back), bytes);
    EXPECT_EQ(back, what);
}

TEST(record_coding, what_a_random_write_takes_is_little) {
    std::mt19937_64 random(2);
    coding_base base;
    int64_t time_ns = 1'700'000'000'000'000'000;
    int64_t physical = 0;
    size_t total = 0;
    std::array<std::byte, longest_record> out{};
    for (int i = 0; i < 10000; ++i) {
        record what;
        what.what = {
            static_cast<int64_t>(random() % (uint64_t{1} << 36)), 4096, 0, 1, physical, time_ns, time_ns, 0, 0};
        physical += 4096;
        time_ns += 5000 + static_cast<int64_t>(random() % 5000);
        total += encode_record(what, base, out.data()) + record_check_bytes;
    }
    EXPECT_LE(total, 10000U * 15);
}

TEST(record_coding, garbage_gives_nothing_or_a_sound_record) {
    std::mt19937_64 random(3);
    size_t sound = 0;
    for (int i = 0; i < 300000; ++i) {
        std::array<std::byte, 40> garbage{};
        for (auto& each : garbage) each = static_cast<std::byte>(random() >> (random() % 8));
        garbage[0] = static_cast<std::byte>((random() & 0xf8) | (1 + random() % 6));
        coding_base base{1000, 100, 500, 7, 10000, 1'000'000, 0};
        record what;
        const size_t length = 1 + random() % garbage.size();
        const size_t bytes = decode_record({garbage.data(), length}, base, what);
        ASSERT_LE(bytes, length);
        if (bytes == 0) continue;
        ++sound;
        if (what.kind != record_kind::run) continue;
        ASSERT_TRUE(is_sound(what.what));
        ASSERT_GE(what.what.low(), 0);
        ASSERT_GT(what.what.high(), what.what.low());
        ASSERT_GE(what.what.physical_end(), what.what.physical);
    }
    EXPECT_GT(sound, 1000U);
}

TEST(record_coding, numbers_that_make_no_sense_are_refused) {
    const run good{100, 10, 20, 5, 0, 1, 2, 3, 0};
    EXPECT_TRUE(is_sound(good));
    const auto with = [&](auto change) {
        run bad = good;
        change(bad);
        return is_sound(bad);
    };
    EXPECT_FALSE(with([](run& r) { r.stride = 9; }));
    EXPECT_FALSE(with([](run& r) { r.stride = -9; }));
    EXPECT_FALSE(with([](run& r) { r.stride = -30; }));
    EXPECT_FALSE(with([](run& r) { r.length = 0; }));
    EXPECT_FALSE(with([](run& r) { r.count = 0; }));
    EXPECT_FALSE(with([](run& r) { r.start = -1; }));
    EXPECT_FALSE(with([](run& r) { r.last_ns = 0; }));
    EXPECT_FALSE(with([](run& r) { r.count = INT64_MAX / 10; }));
    EXPECT_FALSE(with([](run& r) { r.start = INT64_MAX - 50; }));
    EXPECT_FALSE(with([](run& r) { r.physical = INT64_MAX - 20; }));
    EXPECT_TRUE(with([](run& r) { r.stride = -20; }));
    EXPECT_TRUE(with([](run& r) { r.stride = 0; }));
}

TEST(record_coding, check_is_not_the_sum_itself) {
    // Bytes that end with their own sum all have one sum: then a chain of records would not depend on its beginning.
    std::mt19937 random(4);
    std::array<uint32_t, 2> ends{};
    for (size_t i = 0; i < 2; ++i) {
        const std::array<std::byte, 3> some{static_cast<std::byte>(random()), static_cast<std::byte>(random()),
                                            static_cast<std::byte>(i)};
        const uint32_t sum = crc32c(some);
        std::array<std::byte, 4> check{};
        put_word(check.data(), record_check(sum));
        ends[i] = crc32c(check, sum);
    }
    EXPECT_NE(ends[0], ends[1]);
}

TEST(dropping_name, names_say_who_wrote_a_dropping) {
    const dropping_name name{"node.of.many.dots", 4711, 1'700'000'000'123'456'789, dropping_kind::index};
    const short_name path = dropping_path(7, name);
    EXPECT_EQ(path.view(), "hostdir.7/index.node.of.many.dots.4711.1700000000123456789");
    dropping_name back;
    ASSERT_TRUE(parse_dropping_name(path.view().substr(10), back));
    EXPECT_EQ(back.host, name.host);
    EXPECT_EQ(back.pid, name.pid);
    EXPECT_EQ(back.created_ns, name.created_ns);
    EXPECT_EQ(with_kind(path.view(), dropping_kind::data).view(),
              "hostdir.7/data.node.of.many.dots.4711.1700000000123456789");
    EXPECT_EQ(dropping_path(0, {"a/b", 1, 2, dropping_kind::data}).view(), "hostdir.0/data.a_b.1.2");
}

TEST(dropping_name, other_names_are_none) {
    dropping_name out;
    for (const char* const name :
         {"index.", "index.node", "index.node.1", "index..1.2", "index.node.1.", "index.node.x.2", "index.node.01.2",
          "index.node.-1.2", "index.node.-0.2", "dropping.data.1.node.2", "damaged.index.node.1.2"})
        EXPECT_FALSE(parse_dropping_name(name, out)) << name;
    uint32_t number = 0;
    EXPECT_TRUE(parse_host_directory("hostdir.1023", number));
    EXPECT_EQ(number, 1023U);
    for (const char* const name : {"hostdir.", "hostdir.1024", "hostdir.07", "hostdir.1.2", "host"})
        EXPECT_FALSE(parse_host_directory(name, number)) << name;
}

TEST(marker, says_what_a_container_is) {
    const marker written{format_version, 17, 0x123456789abcdef0};
    char text[marker::room];
    const size_t size = written.write(text);
    marker read;
    ASSERT_EQ(marker::read({text, size}, read), marker::reading::whole);
    EXPECT_EQ(read.host_directories, 17U);
    EXPECT_EQ(read.id, written.id);
    for (size_t i = 0; i < size; ++i) {
        std::string changed(text, size);
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_NE(marker::read(changed, read), marker::reading::whole) << i;
    }
    for (size_t i = 0; i < size; ++i) EXPECT_NE(marker::read({text, i}, read), marker::reading::whole) << i;
}

TEST(marker, of_another_version_says_so) {
    const std::string text = "halcyon log container\nversion 2\nwhatever is next";
    marker read;
    EXPECT_EQ(marker::read(text, read), marker::reading::other_version);
    EXPECT_EQ(read.version, 2U);
}

}  // namespace
}  // namespace halcyon::logfs
