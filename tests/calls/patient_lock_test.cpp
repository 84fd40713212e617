#include "calls/state/patient_lock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace halcyon::calls {
namespace {

using namespace std::chrono_literals;

/// A thread that holds a lock until it is told to let go, or for some time after that.
class holder {
  public:
    explicit holder(patient_lock& of, std::chrono::milliseconds longer = 0ms)
        : thread_([this, &of, longer] {
              const patient_lock::guard here(of);
              holds_.set_value(static_cast<bool>(here));
              let_go_.get_future().wait();
              std::this_thread::sleep_for(longer);
          }) {
        EXPECT_TRUE(holds_.get_future().get());
    }
    void begin_to_let_go() { let_go_.set_value(); }
    void join() { thread_.join(); }

  private:
    std::promise<bool> holds_;
    std::promise<void> let_go_;
    std::thread thread_;
};

bool gets(patient_lock& lock, patient_lock::patience how = patient_lock::patience::of_a_call) {
    return static_cast<bool>(patient_lock::guard(lock, how));
}

TEST(patient_lock, one_who_waited_in_vain_goes_without) {
    patient_lock lock;
    holder first(lock);
    EXPECT_FALSE(gets(lock));
    EXPECT_FALSE(gets(lock));
    first.begin_to_let_go();
    first.join();
    EXPECT_TRUE(gets(lock));
    EXPECT_EQ(calls::this_thread().held, nullptr);
    EXPECT_EQ(calls::this_thread().inside, 0);
}

TEST(patient_lock, the_end_waits_for_whom_calls_have_given_up_on) {
    patient_lock lock;
    holder first(lock, 100ms);
    EXPECT_FALSE(gets(lock));
    first.begin_to_let_go();
    EXPECT_TRUE(gets(lock, patient_lock::patience::of_the_end));
    first.join();
}

}  // namespace
}  // namespace halcyon::calls
