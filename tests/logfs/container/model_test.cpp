#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/punch.hpp"
#include "open_container.hpp"

namespace halcyon::logfs {
namespace {

/// Several writers and readers of a container beside a plain file. The writers take turns, so what is right is known:
/// each settles before another goes on.
class session {
  public:
    session(uint64_t seed, bool may_map) : random_(seed) {
        how_.may_map_index = may_map;
        for (int i = 0; i < 3; ++i) begin_writer();
        for (int i = 0; i < 2; ++i) readers_.push_back(in_.new_reader());
        sharing_ = tests::beside_writers();
        sharing_.sharing = {node_folder_.path().native(), 20};
        readers_.push_back(in_.new_reader(sharing_));
    }

    void step() {
        const uint64_t what = random_() % 1000;
        if (what < 880)
            write();
        else if (what < 890)
            truncate();
        else if (what < 900)
            erase();
        else if (what < 905)
            reach();
        else if (what < 915)
            current().sync().value();
        else if (what < 917)
            replace_writer();
        else if (what < 920)
            punch();
        else if (what < 923)
            replace_reader();
        else
            read(*readers_[random_() % readers_.size()]);
    }

    void compare_all() {
        ASSERT_EQ(tests::difference(in_.contents(), file_.contents()), "none");
        for (auto& each : readers_) {
            ASSERT_TRUE(each->reload().ok());
            ASSERT_EQ(tests::difference(tests::all_of(*each), file_.contents()), "none");
        }
    }

    void close() { writers_.clear(); }
    tests::open_container& container_of() { return in_; }
    [[nodiscard]] const tests::plain_file& plain() const { return file_; }
    int begun_with_an_image = 0;

  private:
    static constexpr int64_t most = 60000;

    int64_t number_below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }

    void begin_writer() {
        writers_.push_back(std::make_unique<writer>(in_.of()));
        writers_.back()->open(tests::identity(next_pid_++), how_).value();
    }

    writer& current() { return *writers_[turn_]; }

    /// Mostly patterns, which go on for a while.
    void write() {
        if (left_ == 0) {
            current().settle().value();
            turn_ = random_() % writers_.size();
            left_ = 1 + number_below(60);
            length_ = 1 + number_below(random_() % 4 == 0 ? 3000 : 60);
            offset_ = number_below(most);
            stride_ = random_() % 5 == 0 ? 0 : random_() % 3 == 0 ? length_ : length_ + number_below(200);
            if (random_() % 4 == 0) stride_ = -stride_;
            is_random_ = random_() % 4 == 0;
        }
        --left_;
        const int64_t length = is_random_ ? 1 + number_below(100) : length_;
        const int64_t offset = is_random_ ? number_below(most) : offset_;
        offset_ += stride_;
        if (offset_ < 0 || offset_ > most) left_ = 0;
        const auto data = tests::random_bytes(random_, static_cast<size_t>(length));
        ASSERT_EQ(current().write(offset, data).value(), length);
        file_.write(offset, data);
    }

    void truncate() {
        const int64_t size = number_below(most);
        current().truncate(size).value();
        file_.truncate(size);
    }

    void erase() {
        const int64_t offset = number_below(most);
        const int64_t length = 1 + number_below(5000);
        current().erase(offset, length).value();
        file_.erase(offset, length);
    }

    void reach() {
        const int64_t size = number_below(most + 3000);
        current().reach(size).value();
        file_.reach(size);
    }

    void replace_writer() {
        current().settle().value();
        const size_t gone = random_() % writers_.size();
        if (random_() % 4 == 0)
            writers_[gone]->abandon();  // as if it was killed
        else
            writers_[gone]->close().value();
        writers_.erase(writers_.begin() + static_cast<std::ptrdiff_t>(gone));
        begin_writer();
        turn_ = 0;
        left_ = 0;
    }

    /// By one that begins with what another one left.
    void replace_reader() {
        readers_.back() = in_.new_reader(sharing_);
        ASSERT_TRUE(readers_.back()->reload().ok());
        begun_with_an_image += readers_.back()->shared().is_used() ? 1 : 0;
    }

    void punch() {
        current().settle().value();
        if (random_() % 2 == 0) {
            for (auto& each : readers_) each->reload().value();
        }
        const auto done = punch_dead(in_.of());
        ASSERT_TRUE(done.ok()) << done.why().message;
    }

    void read(reader& from) {
        ASSERT_TRUE(from.reload().ok());
        ASSERT_EQ(from.size(), file_.size());
        const int64_t offset = number_below(most + 5000);
        tests::bytes data(static_cast<size_t>(1 + number_below(random_() % 10 == 0 ? most : 2000)), std::byte{0xee});
        const int64_t read = from.read(offset, data).value();
        const int64_t expected = std::clamp<int64_t>(file_.size() - offset, 0, static_cast<int64_t>(data.size()));
        ASSERT_EQ(read, expected);
        for (int64_t i = 0; i < read; ++i)
            ASSERT_EQ(data[static_cast<size_t>(i)], file_.contents()[static_cast<size_t>(offset + i)]) << offset + i;
        find_data(from);
    }

    /// What is said to be a hole reads as zeros, and what is written has no zeros.
    void find_data(reader& from) {
        const int64_t begin = number_below(most);
        const int64_t next = from.next_data(begin).value();
        const bytes_view rest = view(begin, next < 0 ? file_.size() : next);
        ASSERT_TRUE(std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0}; }));
        if (next < 0) return;
        ASSERT_NE(file_.contents()[static_cast<size_t>(next)], std::byte{0});
        const int64_t hole = from.next_hole(next).value();
        const bytes_view data = view(next, hole);
        ASSERT_TRUE(std::none_of(data.begin(), data.end(), [](std::byte b) { return b == std::byte{0}; }));
    }

    using bytes_view = std::span<const std::byte>;
    bytes_view view(int64_t from, int64_t to) {
        if (from >= to) return {};
        return bytes_view(file_.contents()).subspan(static_cast<size_t>(from), static_cast<size_t>(to - from));
    }

    std::mt19937_64 random_;
    halcyon::tests::memory_folder node_folder_;
    reader_options sharing_;
    tests::open_container in_;
    writer_options how_;
    tests::plain_file file_;
    std::vector<std::unique_ptr<writer>> writers_;
    std::vector<std::unique_ptr<reader>> readers_;
    size_t turn_ = 0;
    int64_t next_pid_ = 1;
    int64_t left_ = 0;
    int64_t length_ = 1;
    int64_t offset_ = 0;
    int64_t stride_ = 0;
    bool is_random_ = false;
};

class model : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(seeds, model, ::testing::Range(uint64_t{1}, uint64_t{9}));

TEST_P(model, a_container_equals_a_plain_file) {
    session all(GetParam(), GetParam() % 4 != 0);
    for (int i = 0; i < 15000; ++i) {
        ASSERT_NO_FATAL_FAILURE(all.step()) << "step " << i;
        if (i % 5000 == 4999) {
            ASSERT_NO_FATAL_FAILURE(all.compare_all()) << "step " << i;
        }
    }
    all.close();
    all.compare_all();
    EXPECT_GT(all.begun_with_an_image, 10);
    const std::string flat = all.container_of().folder.file("flat");
    const auto flattened = flatten(all.container_of().of(), flat);
    ASSERT_TRUE(flattened.ok()) << flattened.why().message;
    std::ifstream file(flat, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_TRUE(text == tests::as_text(all.plain().contents()));
}

}  // namespace
}  // namespace halcyon::logfs
