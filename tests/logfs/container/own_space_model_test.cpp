#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "logfs/container/log_file.hpp"
#include "logfs/container/reading/held_view.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/punch.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

/// Files of several processes on one container, which give back what they have replaced whenever it is a few blocks,
/// beside a plain file. They take turns: each settles before another goes on, which then looks at what it did.
class giving_session {
  public:
    giving_session(uint64_t seed, bool has_sums) : random_(seed), has_sums_(has_sums) {
        for (auto& each : writers_) open(each);
        for (auto& each : readers_) {
            each.file = std::make_unique<log_file>();
            each.file->open(path_, tests::identity(next_pid_++), opening_of(false)).value();
            refresh(each);
        }
    }

    void step() {
        const uint64_t what = random_() % 1000;
        if (what < 600)
            write();
        else if (what < 610)
            truncate();
        else if (what < 620)
            erase();
        else if (what < 680)
            current().sync().value();
        else if (what < 690)
            open(writers_[turn_]);
        else if (what < 695)
            punch_all();
        else if (what < 900)
            read(readers_[random_() % readers_.size()]);
        else
            compare(current());
    }

    /// By a new reader, and the container is sound.
    void compare_anew() {
        current().settle().value();
        container of;
        of.open(path_).value();
        reader from(of, tests::beside_writers());
        from.reload().value();
        ASSERT_EQ(tests::difference(tests::all_of(from), file_.contents()), "none");
        const auto checked = check(of).value();
        ASSERT_TRUE(checked.is_sound()) << describe(checked.findings.front());
    }

    [[nodiscard]] int64_t generation() const {
        container of;
        of.open(path_).value();
        return read_generation(of);
    }

  private:
    static constexpr int64_t most = 300'000;
    struct seen_file {
        std::unique_ptr<log_file> file;
        tests::plain_file as_refreshed;
        int64_t generation = 0;
    };

    int64_t number_below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
    log_file& current() { return *writers_[turn_]; }

    opening opening_of(bool may_write) const {
        opening how;
        how.may_write = may_write;
        how.creates = may_write;
        how.host_directories = 1;
        how.least_given_back = 16384;
        how.writing.has_data_checks = has_sums_;
        how.reading.verifies_data = has_sums_;
        return how;
    }

    /// A program ends, and another begins, now and then with a file of nothing.
    void open(std::unique_ptr<log_file>& which) {
        opening how = opening_of(true);
        how.truncates = random_() % 2 == 0;
        if (which) {
            current().settle().value();
            which->close().value();
        }
        which = std::make_unique<log_file>();
        which->open(path_, tests::identity(next_pid_++), how).value();
        if (how.truncates) file_.truncate(0);
        which->settle().value();
        left_ = 0;
    }

    void write() {
        if (left_ == 0) {
            current().settle().value();
            turn_ = random_() % writers_.size();
            current().refresh().value();
            left_ = 1 + number_below(30);
            length_ = 1 + number_below(random_() % 3 == 0 ? 60000 : 9000);
            offset_ = number_below(most);
            stride_ = random_() % 4 == 0 ? 0 : length_ + number_below(3000) * number_below(2);
        }
        --left_;
        const auto data = tests::random_bytes(random_, static_cast<size_t>(length_));
        ASSERT_EQ(current().write(offset_, data).value(), length_);
        file_.write(offset_, data);
        offset_ += stride_;
        if (offset_ > most) left_ = 0;
    }

    void truncate() {
        const int64_t size = random_() % 2 == 0 ? 0 : number_below(most);
        current().truncate(size).value();
        file_.truncate(size);
    }

    void erase() {
        const int64_t offset = number_below(most);
        const int64_t length = 1 + number_below(50000);
        current().erase(offset, length).value();
        file_.erase(offset, length);
    }

    void punch_all() {
        const auto done = punch_dead(current().of());
        ASSERT_TRUE(done.ok() || done.why().kind == error_kind::unavailable) << done.why().message;
    }

    void refresh(seen_file& each) {
        current().settle().value();
        each.file->refresh().value();
        each.as_refreshed = file_;
        each.generation = generation();
    }

    /// What it saw when it was refreshed last, though it may have been replaced by now. Where something was given back
    /// since, it may see what is newer.
    void read(seen_file& each) {
        if (random_() % 4 == 0) refresh(each);
        if (each.generation != generation()) {
            tests::bytes data(1000);
            static_cast<void>(each.file->read(number_below(most), data).value());
            return refresh(each);
        }
        const int64_t offset = number_below(most);
        tests::bytes data(static_cast<size_t>(1 + number_below(most)));
        const auto& expected = each.as_refreshed.contents();
        const int64_t read = each.file->read(offset, data).value();
        ASSERT_EQ(read, std::clamp<int64_t>(each.as_refreshed.size() - offset, 0, static_cast<int64_t>(data.size())));
        for (int64_t i = 0; i < read; ++i)
            ASSERT_EQ(data[static_cast<size_t>(i)], expected[static_cast<size_t>(offset + i)]) << offset + i;
    }

    void compare(log_file& with) {
        tests::bytes data(static_cast<size_t>(with.size().value()));
        ASSERT_EQ(with.read(0, data).value(), static_cast<int64_t>(data.size()));
        ASSERT_EQ(tests::difference(data, file_.contents()), "none");
    }

    std::mt19937_64 random_;
    bool has_sums_;
    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
    tests::plain_file file_;
    std::array<std::unique_ptr<log_file>, 3> writers_;
    std::array<seen_file, 2> readers_;
    size_t turn_ = 0;
    int64_t next_pid_ = 1;
    int64_t left_ = 0;
    int64_t length_ = 1;
    int64_t offset_ = 0;
    int64_t stride_ = 0;
};

class giving_model : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(seeds, giving_model, ::testing::Range(uint64_t{1}, uint64_t{7}));

TEST_P(giving_model, a_container_that_gives_dead_extents_back_equals_a_plain_file) {
    giving_session all(GetParam(), GetParam() % 3 == 0);
    for (int i = 0; i < 2500; ++i) {
        ASSERT_NO_FATAL_FAILURE(all.step()) << "step " << i;
        if (i % 500 == 499) {
            ASSERT_NO_FATAL_FAILURE(all.compare_anew()) << "step " << i;
        }
    }
    EXPECT_GT(all.generation(), 20);
}

}  // namespace
}  // namespace halcyon::logfs
