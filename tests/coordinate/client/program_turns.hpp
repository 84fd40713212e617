#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "coordinate/client/program_turn.hpp"
#include "coordinate/layer/called_layer.hpp"
#include "temporary_folder.hpp"

namespace halcyon::tests {

/// A program in a process of its own, as far as the page is concerned.
class program : public program_turn {
  public:
    program(agent_page& with, uint64_t owner, size_t file_system = 0) : slot_(claim_slot(with.shared(), owner)) {
        start(with.shared(), *slot_, file_system);
    }
    void begin() { announce(operation::write, {}); }
    [[nodiscard]] process_slot& slot() const { return *slot_; }
    [[nodiscard]] process_part& part() const { return slot_->at[0]; }

  private:
    process_slot* slot_;
};

/// Makes the system count bytes of this process.
inline void move(size_t bytes) {
    const temporary_folder folder;
    std::string name = (folder.path() / "file").string();
    FILE* const file = std::fopen(name.c_str(), "w");
    std::string data(bytes, 'x');
    EXPECT_EQ(std::fwrite(data.data(), 1, bytes, file), bytes);
    std::fclose(file);
}

inline uint64_t this_process() {
    return process_slot::owner_of(::getpid(), start_of_process(::getpid()));
}

inline constexpr int64_t mib = 1 << 20;

class program_turn_test : public layer_test {
  protected:
    void give(permission to, uint64_t stop_round = 0) { page_.publish(0, to, stop_round, int64_t{1} << 40U); }
};

}  // namespace halcyon::tests
