#include "base/directory_claim.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace halcyon {
namespace {

class claiming : public ::testing::Test {
  protected:
    claiming() { std::filesystem::create_directories(path_); }
    ~claiming() override {
        std::filesystem::remove_all(path_);
        std::filesystem::remove_all(path_ + ".moved");
    }
    const std::string path_ = ::testing::TempDir() + "/claim-" + std::to_string(::getpid());
};

TEST_F(claiming, a_new_user_waits_until_all_who_share_are_gone) {
    auto first = directory_claim::take(path_);
    ASSERT_TRUE(first.ok());
    EXPECT_FALSE(directory_claim::take(path_).ok());
    EXPECT_FALSE(directory_claim::join(path_).ok()) << "it is not shared";
    ASSERT_TRUE(first->share().ok());
    auto second = directory_claim::join(path_);
    ASSERT_TRUE(second.ok());
    first->release();
    EXPECT_EQ(directory_claim::take(path_).why().kind, error_kind::usage);
    second->release();
    EXPECT_TRUE(directory_claim::take(path_).ok());
}

TEST_F(claiming, a_claim_that_is_replaced_is_given_up) {
    directory_claim held = directory_claim::take(path_).value();
    held = directory_claim();
    EXPECT_TRUE(directory_claim::take(path_).ok());
}

TEST_F(claiming, tells_when_the_path_leads_elsewhere) {
    const directory_claim held = directory_claim::take(path_).value();
    EXPECT_TRUE(held.is_at(path_));
    std::filesystem::rename(path_, path_ + ".moved");
    EXPECT_FALSE(held.is_at(path_));
    EXPECT_TRUE(held.is_at(path_ + ".moved"));
    std::filesystem::create_directory(path_);
    EXPECT_FALSE(held.is_at(path_));
}

}  // namespace
}  // namespace halcyon
