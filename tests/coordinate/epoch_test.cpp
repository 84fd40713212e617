// Whence a daemon gets its epoch when its file cannot be written.
#include "coordinate/fencing/epoch.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <string>

#include "temporary_folder.hpp"

namespace halcyon::coordinate {
namespace {

/// Nothing can be written meanwhile, as on a full disk.
class full_disk {
  public:
    full_disk() {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit none{0, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &none);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~full_disk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_{};
    void (*handler_)(int) = nullptr;
};

result<epoch_source::epoch> next_on_a_full_disk(const std::string& file) {
    const full_disk meanwhile;
    return own_epochs(file).next();
}

class stored_epochs : public testing::Test {
  protected:
    void store(uint64_t number) { std::ofstream(file) << number << "\n"; }
    tests::temporary_folder folder;
    std::string file = folder.file("epoch");
};

TEST_F(stored_epochs, that_are_ahead_of_the_clock_are_not_given_twice) {
    const uint64_t ahead = epoch_by_clock() + 1'000'000;
    store(ahead);
    const auto none = next_on_a_full_disk(file);
    ASSERT_FALSE(none.ok()) << "the next start would have " << none->number << " again";
    EXPECT_EQ(none.why().kind, error_kind::system);
    EXPECT_NE(none.why().message.find("the clock is behind the latest epoch, " + std::to_string(ahead)),
              std::string::npos)
        << none.why().message;
    EXPECT_EQ(own_epochs(file).next().value().number, ahead + 1);
}

TEST_F(stored_epochs, behind_the_clock_are_followed_by_one_that_no_start_just_before_can_have_had) {
    store(epoch_by_clock() - 4);
    const uint64_t had_before = epoch_by_clock();  // by another daemon, whose file is lost
    EXPECT_GT(own_epochs(file).next().value().number, had_before);
    std::ofstream(file, std::ios::trunc).close();
    const uint64_t before_loss = epoch_by_clock();
    EXPECT_GT(own_epochs(file).next().value().number, before_loss) << "emptied by a power loss";
}

TEST_F(stored_epochs, behind_the_clock_need_not_be_written) {
    store(epoch_by_clock() - 1);
    const auto made = next_on_a_full_disk(file);
    ASSERT_TRUE(made.ok()) << made.why().message;
    EXPECT_FALSE(made->warning.empty());
    EXPECT_GT(next_on_a_full_disk(file).value().number, made->number);
}

TEST_F(stored_epochs, and_others_that_follow_one_another_within_a_quarter_are_never_ahead_of_the_clock) {
    for (const std::string& kept_in : {std::string(), file}) {
        SCOPED_TRACE(kept_in);
        own_epochs of(kept_in);
        const uint64_t first = of.next().value().number;
        const uint64_t second = of.next().value().number;  // as after SIGHUP
        EXPECT_GT(second, first);
        EXPECT_LE(second, epoch_by_clock()) << "a start behind it, without the file, would have it again";
    }
}

}  // namespace
}  // namespace halcyon::coordinate
