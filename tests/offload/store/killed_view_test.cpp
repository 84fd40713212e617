// What is left of a view whose maker is killed.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>

#include "killed_at_step.hpp"
#include "offload/store/hdf5/view_temporary.hpp"
#include "view_fixture.hpp"

namespace halcyon::offload::testing {
namespace {

using hdf5::view_temporaries;
using tests::killed_at;

class killed_view : public view {
  protected:
    bool there(const std::string& path) const { return std::filesystem::exists(path); }
    std::vector<std::string> leftovers() const {
        std::vector<std::string> found;
        for (const std::string& name : folder_.names())
            if (name.find(".view.") != std::string::npos) found.push_back(name);
        return found;
    }
    std::string path_of_this_process() const { return view_temporaries(folder_.path().string(), "sim").path_of("h5"); }
};

/// A process that made the file it would write a view into, and goes on living until it is killed.
class maker {
  public:
    explicit maker(const std::string& folder) {
        std::array<int, 2> names{};
        if (pipe(names.data()) != 0) throw error(system_failure("pipe", errno));
        child_ = fork();
        if (child_ == 0) {
            const std::string path = view_temporaries(folder, "sim").path_of("h5");
            std::ofstream(path) << "half a view";
            static_cast<void>(!write(names[1], path.c_str(), path.size() + 1));
            while (true) pause();
        }
        close(names[1]);
        for (char letter = 0; read(names[0], &letter, 1) == 1 && letter != '\0';) path_ += letter;
        close(names[0]);
    }
    ~maker() {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }
    maker(const maker&) = delete;
    maker& operator=(const maker&) = delete;

    /// Until it is a zombie: nobody asked yet how it ended.
    void die() const {
        kill(child_, SIGKILL);
        siginfo_t end{};
        waitid(P_PID, static_cast<id_t>(child_), &end, WEXITED | WNOWAIT);
    }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    pid_t child_ = -1;
    std::string path_;
};

TEST_F(killed_view, leftovers_go_as_soon_as_their_process_is_dead_and_not_before) {
    const maker alive(folder_.path().string()), dead(folder_.path().string());
    dead.die();
    EXPECT_EQ(rebuild({"n0000"}), 0);
    EXPECT_FALSE(there(dead.path())) << "a zombie writes no more";
    EXPECT_TRUE(there(alive.path()));
    alive.die();
    EXPECT_EQ(rebuild({"n0000"}), 0);
    EXPECT_FALSE(there(alive.path()));
}

TEST_F(killed_view, a_process_number_that_came_again_is_not_taken_for_its_maker) {
    // The same process, but one that began at another time.
    std::string path = path_of_this_process();
    path.insert(path.rfind('.'), "1");
    std::ofstream(path) << "half a view";
    EXPECT_EQ(rebuild({"n0000"}), 0);
    EXPECT_FALSE(there(path));
}

TEST_F(killed_view, leftovers_of_other_hosts_go_when_nobody_touched_them_for_hours) {
    const std::string fresh = folder_.file(".sim.view.elsewhere.1.2.3.h5"), old = folder_.file(".sim.view.there.1.h5");
    for (const std::string& path : {fresh, old}) std::ofstream(path) << "half a view";
    std::filesystem::last_write_time(old, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
    EXPECT_EQ(rebuild({"n0000"}), 0);
    EXPECT_TRUE(there(fresh));
    EXPECT_FALSE(there(old));
}

/// Of nothing, and of an older view.
TEST_F(killed_view, at_any_step_leaves_an_old_view_or_a_new_one_and_the_next_maker_leaves_nothing_else) {
    const auto make = [this] { static_cast<void>(hdf5::hdf5_view(folder_.path().string(), "sim").rebuild({})); };
    for (const int64_t iteration : {0, 1}) {
        publish("n0000", {iteration}, [iteration](job_builder& b) {
            variable& v = b.add_variable("v", scalar_type::float32);
            v.place_id = b.add_place("whole");
            b.add_block(v, iteration, 0, {2, 3}, counting<float>(6), {2, 3}, {0, 0});
        });
        const std::string kept_view = folder_.file("kept.h5"), kept_xdmf = folder_.file("kept.xmf");
        const std::string xdmf = folder_.file("sim.xmf");
        long step = 0;
        const auto look = [&] {
            const auto count = static_cast<size_t>(iteration);
            if (there(view_)) {
                const size_t now = shown("/time").size();
                EXPECT_TRUE(now == count || now == count + 1) << "step " << step;
            } else {
                EXPECT_EQ(iteration, 0) << "step " << step;
            }
            make();
            EXPECT_EQ(leftovers(), strings{}) << "step " << step;
            EXPECT_EQ(shown("/time").size(), count + 1);
            EXPECT_TRUE(there(xdmf));
        };
        if (iteration > 0) {
            std::filesystem::copy(view_, kept_view);
            std::filesystem::copy(xdmf, kept_xdmf);
        }
        for (; step < 1000; ++step) {
            for (const std::string& path : {view_, xdmf}) std::filesystem::remove(path);
            if (iteration > 0) {
                std::filesystem::copy(kept_view, view_);
                std::filesystem::copy(kept_xdmf, xdmf);
            }
            if (!killed_at(step, make, look)) break;
        }
        EXPECT_GT(step, 10) << "the test shows nothing";
        EXPECT_LT(step, 1000);
        make();
    }
}

}  // namespace
}  // namespace halcyon::offload::testing
