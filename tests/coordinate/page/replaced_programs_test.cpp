// A process of a job that becomes another program while it is in a call.
#include "coordinate/page/replaced_programs.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "coordinate/page/held_locks.hpp"
#include "coordinate/page/pages.hpp"
#include "coordinate/page/process_life.hpp"
#include "coordinate/page/slot_claim.hpp"

namespace halcyon::coordinate {
namespace {

/// A process in the middle of a call, while another one waits, that becomes another program when `go` says so. It holds
/// a lock by a descriptor with these flags (memfd_create).
class becoming_another {
  public:
    explicit becoming_another(page& shared, unsigned flags = MFD_CLOEXEC) {
        EXPECT_EQ(::pipe(go_), 0);
        pid_ = ::fork();
        if (pid_ != 0) return;
        process_slot* const slot = claim_slot(shared, own_name());
        note_program(*slot);
        slot->locks = ::flock(::memfd_create("locked", flags), LOCK_EX) == 0 ? 1 : 0;
        slot->at[0].moved = 10;
        slot->at[0].under_way = 1;
        slot->at[0].waiting = 1;
        char byte = 0;
        static_cast<void>(::read(go_[0], &byte, 1) == 1);
        ::execl("/bin/sleep", "sleep", "600", nullptr);
        ::_exit(1);
    }
    ~becoming_another() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        for (const int fd : go_) ::close(fd);
    }
    void go() const { EXPECT_EQ(::write(go_[1], "x", 1), 1); }
    [[nodiscard]] bool is_another() const {
        char name[16] = {};
        const std::string path = "/proc/" + std::to_string(pid_) + "/comm";
        FILE* const from = ::fopen(path.c_str(), "r");
        if (from == nullptr) return false;
        const bool read = ::fgets(name, sizeof name, from) != nullptr;
        ::fclose(from);
        if (!read || std::string_view(name) != "sleep\n") return false;
        const uint64_t runs = life_of_process(pid_).program;  // has its name before it has its memory
        return runs != 0 && runs != life_of_process(::getpid()).program;
    }

  private:
    int go_[2] = {-1, -1};
    pid_t pid_ = -1;
};

TEST(page, counts_no_layer_of_the_program_before) {
    const agent_page one = page_of();
    process_slot* const slot = claim_slot(one.shared(), own_name());
    slot->by_itself.program = life_of_process(::getpid()).program + 1;
    slot->by_itself.layer = 1;
    note_program(*slot);
    EXPECT_EQ(slot->by_itself.layer, 0U);
    slot->by_itself.layer = 1;
    note_program(*slot);
    EXPECT_EQ(slot->by_itself.layer, 1U) << "it is this program's";
}

TEST(page, does_not_count_the_calls_of_a_program_that_became_another_one) {
    agent_page one = page_of();
    const becoming_another process(one.shared());
    const auto now = [&] { return one.observe(0, 0, 0); };
    while (now().waiting == 0) ::usleep(100);
    one.free_dead();
    EXPECT_EQ(now().under_way, 1);
    process.go();
    while (!process.is_another()) ::usleep(100);
    one.free_dead();
    EXPECT_EQ(now().under_way, 0);
    EXPECT_EQ(now().waiting, 0);
    EXPECT_EQ(now().active, 0);
    EXPECT_EQ(now().moved, 10);
    EXPECT_EQ(now().processes, 1);
}

TEST(page, counts_a_lock_no_more_that_went_with_the_program_before) {
    for (const unsigned flags : {unsigned{MFD_CLOEXEC}, 0U}) {
        agent_page one = page_of();
        const becoming_another process(one.shared(), flags);
        while (one.observe(0, 0, 0).waiting == 0) ::usleep(100);
        one.free_dead();
        EXPECT_TRUE(held_locks::may_anybody_hold_any(one.shared()));
        process.go();
        while (!process.is_another()) ::usleep(100);
        one.free_dead();
        const bool has_descriptor = flags == 0;
        EXPECT_EQ(held_locks::may_anybody_hold_any(one.shared()), has_descriptor);
        process_slot& slot = one.shared().slots[0];
        slot.by_itself.program = 1;  // the next one takes locks of its own
        EXPECT_TRUE(held_locks::may_hold_any(slot));
    }
}

TEST(page, counts_the_calls_of_the_next_program_from_its_first_one) {
    process_slot slot{};
    slot.owner = process_slot::owner_of(5, 7);
    slot.by_itself.program = 1;
    replaced_programs gone;
    gone.look(3, slot, {.start = 7, .program = 1});
    EXPECT_FALSE(gone.contains(3, slot));
    gone.look(3, slot, {.start = 7, .program = 0});  // of another user by now: nobody may know
    EXPECT_FALSE(gone.contains(3, slot));
    gone.look(3, slot, {.start = 7, .program = 2});
    EXPECT_TRUE(gone.contains(3, slot));
    EXPECT_FALSE(gone.contains(2, slot));
    slot.by_itself.program = 2;
    EXPECT_FALSE(gone.contains(3, slot)) << "whether it was looked at again or not";
    gone.look(3, slot, {.start = 7, .program = 2});
    EXPECT_FALSE(gone.contains(3, slot));
}

}  // namespace
}  // namespace halcyon::coordinate
