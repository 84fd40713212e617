#include "logfs/container/reading/head_reader.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "flipped_bit.hpp"
#include "logfs/container/reading/quick_look.hpp"
#include "open_container.hpp"
#include "watched_files.hpp"

/// Heads of index droppings that their writers change while somebody reads them.
namespace halcyon::logfs {
namespace {

using tests::as_bytes;

/// A read of a head stops on its way, once, and something happens there.
class interrupted_reads : public tests::watched_files {
  public:
    int64_t stops_at = 0;  ///< in the file; 0: nowhere
    std::function<void()> meanwhile;
    int interruptions = 0;

    int64_t read_at(int fd, const iovec* parts, int count, int64_t offset) override {
        const auto bytes = static_cast<int64_t>(parts[0].iov_len);
        const bool is_interrupted = count == 1 && offset < stops_at && stops_at < offset + bytes &&
                                    offset + bytes <= static_cast<int64_t>(block_bytes);
        if (!is_interrupted) return watched_files::read_at(fd, parts, count, offset);
        auto* const to = static_cast<std::byte*>(parts[0].iov_base);
        const iovec first{to, static_cast<size_t>(stops_at - offset)};
        const iovec second{to + first.iov_len, parts[0].iov_len - first.iov_len};
        const int64_t before = watched_files::read_at(fd, &first, 1, offset);
        if (before != static_cast<int64_t>(first.iov_len)) return before;
        ++interruptions;
        read_the_rest_ = [this, fd, second, at = stops_at] { return watched_files::read_at(fd, &second, 1, at); };
        rest_ = -1;
        meanwhile();
        if (rest_ < 0) go_on();
        return before + rest_;
    }
    /// From within `meanwhile`, in the middle of what it does.
    void go_on() { rest_ = read_the_rest_(); }

  private:
    std::function<int64_t()> read_the_rest_;
    int64_t rest_ = -1;
};

class a_head_that_changes : public ::testing::Test {
  protected:
    void TearDown() override {
        calls_.behind = [](std::string_view) {};
    }
    void write(std::string_view text) {
        to_.write(written_, as_bytes(text)).value();
        written_ += static_cast<int64_t>(text.size());
    }

    interrupted_reads calls_;
    tests::open_container in_{calls_};
    writer& to_ = in_.add_writer(1);
    int64_t written_ = 0;
};

constexpr int64_t in_a_state = 60;  // of its bytes

TEST_F(a_head_that_changes, is_never_taken_for_damage_however_often_it_changes) {
    for (const bool is_new : {true, false}) {
        write("text");
        auto from = in_.new_reader();
        if (!is_new) from->reload().value();
        uint64_t turn = 0;
        calls_.interruptions = 0;
        // Each look finds one slot half as it was.
        calls_.meanwhile = [&] {
            write("more");
            write("more");
            calls_.stops_at = static_cast<int64_t>(state_slot_at(++turn)) + in_a_state;
        };
        const int64_t published = written_;
        calls_.stops_at = static_cast<int64_t>(state_slot_at(turn)) + in_a_state;
        const auto done = from->reload();
        calls_.stops_at = 0;
        ASSERT_TRUE(done.ok()) << done.why().message;
        EXPECT_GE(from->size(), published);
        EXPECT_GE(calls_.interruptions, 2);
        EXPECT_LE(calls_.interruptions, 4);
    }
}

/// A state is published between a reader's looks at one slot and at the other, and the next has begun there: what the
/// first slot held is out of date by then.
TEST_F(a_head_that_changes, is_never_taken_for_older_than_it_was_at_first) {
    int begun = 0;
    bool is_second = false;
    calls_.behind = [&](std::string_view step) {
        if (!is_second || step != "slot begun") return;
        is_second = false;
        ++begun;
        calls_.go_on();
    };
    for (int i = 0; i < 4; ++i) {
        write("text");
        for (const bool is_quick : {false, true}) {
            auto from = in_.new_reader();
            const int64_t published = written_;
            calls_.meanwhile = [&] {
                calls_.stops_at = 0;
                write("more");
                is_second = true;
                write("more");
            };
            calls_.stops_at = static_cast<int64_t>(2 * sector_bytes);
            written_state found;
            if (is_quick) {
                ASSERT_TRUE(look_quickly(in_.of(), "boot0", found));
            } else {
                from->reload().value();
                found.bytes = from->size();
            }
            EXPECT_GE(found.bytes, published) << i;
        }
    }
    EXPECT_EQ(begun, 8);
}

/// A file system may show half of what a writer is writing, and the writer be off its core by then.
TEST_F(a_head_that_changes, is_looked_at_again_for_some_time_before_it_is_called_damaged) {
    write("text");
    write("more");
    std::optional<tests::flipped_bit> half(std::in_place, in_.index_path(to_), state_slot_at(0) + in_a_state, 3U);
    int pauses = 0;
    calls_.behind = [&](std::string_view call) {
        if (call == "pause" && ++pauses == 3) half.reset();
    };
    auto from = in_.new_reader();
    from->reload().value();
    EXPECT_EQ(from->size(), written_);
    EXPECT_EQ(pauses, 3);
    half.emplace(in_.index_path(to_), state_slot_at(1) + in_a_state, 3U);
    const auto done = in_.new_reader()->reload();
    EXPECT_FALSE(done.ok());
    EXPECT_GE(pauses, 10);
}

TEST_F(a_head_that_changes, is_called_damaged_for_what_stays_whatever_else_changes) {
    write("text");
    to_.sync().value();
    const tests::flipped_bit damage(in_.index_path(to_), commit_slot_at(1) + 20, 3U);
    uint64_t turn = 0;
    calls_.meanwhile = [&] {
        write("more");
        write("more");
        calls_.stops_at = static_cast<int64_t>(state_slot_at(++turn)) + in_a_state;
    };
    calls_.stops_at = static_cast<int64_t>(state_slot_at(0)) + in_a_state;
    const auto done = in_.new_reader()->reload();
    calls_.stops_at = 0;
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.why().message.find("its commit does not fit its check sum"), std::string::npos)
        << done.why().message;
    EXPECT_LE(calls_.interruptions, 200);
}

}  // namespace
}  // namespace halcyon::logfs
