// What one rank lacks in halcyon_open fails it on all ranks, and leaves none waiting for it; run by two ranks.

#include <gtest/gtest.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "halcyon/halcyon.h"
#include "offload/session/failing_mpi.hpp"
#include "offload/session/scarce_memory.hpp"

using halcyon::testing::allocations_left;
using halcyon::testing::collectives_left;

namespace {

constexpr const char* configuration = R"(
halcyon: 1
simulation: tiny
data:
  layouts: {row: {type: float64, dimensions: [8]}}
  variables: {theta: {layout: row}}
stores: {main: {type: hdf5, path: out, existing: replace}}
resources: {buffer: {size: 4 MiB}}
)";

std::vector<int> everybodys(int mine) {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<int> all(static_cast<size_t>(size));
    MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
    return all;
}

/// The server of an open that failed may still be at its last acts in the directory: what it makes or removes meanwhile
/// is an error.
void remove_folder(const std::filesystem::path& directory) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::error_code why;
    do std::filesystem::remove_all(directory, why);
    while (why && std::chrono::steady_clock::now() < limit);
    ASSERT_FALSE(why) << why.message();
}

/// In a directory of its own, the same on all ranks.
class open_failure : public testing::Test {
  protected:
    void SetUp() override {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        char name[] = "/tmp/halcyon-open-XXXXXX";
        if (rank_ == 0 && ::mkdtemp(name) == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
        directory_ = name;
        before_ = std::filesystem::current_path();
        std::filesystem::current_path(directory_);
        configure(configuration);
    }
    void TearDown() override {
        std::filesystem::current_path(before_);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_ == 0) remove_folder(directory_);
    }
    void configure(const std::string& text) const {
        if (rank_ == 0) std::ofstream(directory_ / "halcyon.yaml") << text;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    [[nodiscard]] std::string path() const { return (directory_ / "halcyon.yaml").string(); }

    /// Opens when the server of the open before, which failed, has let go of the output directory. `prepare` comes
    /// before each attempt.
    template <class Prepare>
    static int open(const std::string& path, halcyon_handle& h, const Prepare& prepare) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (true) {
            prepare();
            const int code = halcyon_open(path.c_str(), MPI_COMM_WORLD, &h);
            memory_sufficed_ = std::exchange(allocations_left, 0) > 0;
            const bool in_use = code == HALCYON_ERROR_USAGE && said("in use by another session");
            const bool late = std::chrono::steady_clock::now() > limit;
            const std::vector<int> again = everybodys(in_use && !late ? 1 : 0);
            if (again[0] == 0 || again[1] == 0) return code;
        }
    }
    static bool said(const char* part) { return std::strstr(halcyon_error_message(), part) != nullptr; }

    /// Opens while `rank` lacks something: an error of this kind on all ranks that names the rank.
    static void expect_failure(const std::string& path, int kind, int rank) {
        halcyon_handle h = nullptr;
        const int code = open(path, h, [] {});
        for (const int one : everybodys(code)) EXPECT_EQ(one, kind) << halcyon_error_message();
        EXPECT_EQ(h, nullptr);
        EXPECT_TRUE(said(("(rank " + std::to_string(rank) + " on ").c_str())) << halcyon_error_message();
    }
    /// Nothing of the failure is left.
    void expect_session() const {
        halcyon_handle h = nullptr;
        ASSERT_EQ(open(path(), h, [] {}), HALCYON_OK) << halcyon_error_message();
        const std::vector<double> row(8, 1.5);
        EXPECT_EQ(halcyon_write(h, "theta", row.data()), HALCYON_OK) << halcyon_error_message();
        EXPECT_EQ(halcyon_end_iteration(h), HALCYON_OK) << halcyon_error_message();
        EXPECT_EQ(halcyon_close(&h), HALCYON_OK) << halcyon_error_message();
    }
    void expect_no_rank_waits_for_one_without_memory(int poor) const;

    int rank_ = 0;
    std::filesystem::path directory_;
    static inline bool memory_sufficed_ = false;  ///< in the last open

  private:
    std::filesystem::path before_;
};

TEST_F(open_failure, a_rank_without_its_working_directory_is_named_on_all_ranks) {
    for (const auto& [poor, configuration] : {std::pair<int, std::string>{1, "halcyon.yaml"}, {0, path()}}) {
        if (rank_ == poor) {
            std::filesystem::create_directory("gone");
            std::filesystem::current_path("gone");
            std::filesystem::remove(directory_ / "gone");
        }
        expect_failure(configuration, HALCYON_ERROR_SYSTEM, poor);
        EXPECT_TRUE(
            said(("the working directory of this process is gone: No such file or directory; start it in one that "
                  "exists (rank " +
                  std::to_string(poor))
                     .c_str()))
            << halcyon_error_message();
        std::filesystem::current_path(directory_);
    }
    expect_session();
}

TEST_F(open_failure, a_log_directory_that_cannot_be_made_or_written_fails_on_all_ranks) {
    const auto with_logs_in = [](const std::string& place) {
        std::string text = configuration;
        return text.insert(text.rfind('}'), ", server: {log-directory: " + place + "}");
    };
    for (const char* const place : {"/dev/null/logs", "/proc/logs", "/proc"}) {
        configure(with_logs_in(place));
        expect_failure(path(), HALCYON_ERROR_SYSTEM, 0);
        EXPECT_TRUE(said("halcyon.yaml:8: resources.server.log-directory: ")) << halcyon_error_message();
        EXPECT_TRUE(said(place)) << halcyon_error_message();
    }
    configure(with_logs_in("logs/of/servers"));
    expect_session();
    EXPECT_TRUE(std::filesystem::exists(directory_ / "logs/of/servers/server-n0000.log"));
}

TEST_F(open_failure, a_null_pointer_of_one_rank_fails_on_all) {
    halcyon_handle h = nullptr;
    const int no_path = halcyon_open(rank_ == 1 ? nullptr : path().c_str(), MPI_COMM_WORLD, &h);
    for (const int one : everybodys(no_path)) EXPECT_EQ(one, HALCYON_ERROR_USAGE);
    const int no_handle = halcyon_open(path().c_str(), MPI_COMM_WORLD, rank_ == 1 ? nullptr : &h);
    for (const int one : everybodys(no_handle)) EXPECT_EQ(one, HALCYON_ERROR_USAGE);
    expect_session();
}

/// New threads of this process would need a stack larger than the address space.
class no_threads {
  public:
    explicit no_threads(bool now) {
        ::pthread_getattr_default_np(&usual_);
        pthread_attr_t hungry = usual_;
        ::pthread_attr_setstacksize(&hungry, std::size_t{1} << 50);
        if (now && ::pthread_setattr_default_np(&hungry) != 0) std::abort();
    }
    no_threads(const no_threads&) = delete;
    no_threads& operator=(const no_threads&) = delete;
    ~no_threads() { ::pthread_setattr_default_np(&usual_); }

  private:
    pthread_attr_t usual_{};
};

TEST_F(open_failure, a_rank_that_can_start_no_thread_is_named_and_keeps_its_signals) {
    for (const int poor : {0, 1}) {
        sigset_t before, after;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
        {
            const no_threads limit(rank_ == poor);
            expect_failure(path(), HALCYON_ERROR_SYSTEM, poor);
        }
        ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
        for (int s = 1; s < SIGRTMIN; ++s) EXPECT_EQ(::sigismember(&before, s), ::sigismember(&after, s)) << s;
        expect_session();
    }
}

/// Memory ends at one allocation of an open after another, until the open needs none of so many. An allocation may be
/// one that can do without: then the open succeeds.
void open_failure::expect_no_rank_waits_for_one_without_memory(int poor) const {
    bool exhausted = false;
    for (int64_t allocation = 1; !exhausted; ++allocation) {
        halcyon_handle h = nullptr;
        const int code = open(path(), h, [&] {
            // With files in it, the C++ library would end the program: it cannot say that an entry found no memory.
            if (rank_ == 0) remove_folder("out");
            allocations_left = rank_ == poor ? allocation : 0;
        });
        exhausted = everybodys(memory_sufficed_ ? 1 : 0)[static_cast<size_t>(poor)] == 1;
        const std::vector<int> codes = everybodys(code);
        ASSERT_EQ(codes[0] == HALCYON_OK, codes[1] == HALCYON_OK) << "allocation " << allocation;
        ASSERT_EQ(code == HALCYON_OK, h != nullptr) << "allocation " << allocation;
        ASSERT_TRUE(code == HALCYON_OK || *halcyon_error_message() != '\0') << "allocation " << allocation;
        if (h != nullptr) {
            ASSERT_EQ(halcyon_close(&h), HALCYON_OK) << halcyon_error_message();
        }
    }
    expect_session();
}

TEST_F(open_failure, no_rank_waits_for_rank_0_without_memory) {
    expect_no_rank_waits_for_one_without_memory(0);
}

TEST_F(open_failure, no_rank_waits_for_rank_1_without_memory) {
    expect_no_rank_waits_for_one_without_memory(1);
}

int errors_seen_by_application = 0;
void count_error(MPI_Comm* /*comm*/, int* /*code*/, ...) {
    ++errors_seen_by_application;
}

/// Each collective call of an open fails in turn, on both ranks, until the open makes none of so many.
TEST_F(open_failure, errors_of_mpi_are_results_and_the_applications_handler_is_its_own) {
    MPI_Comm used = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &used);
    MPI_Errhandler own = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_error, &own);
    MPI_Comm_set_errhandler(used, own);
    int failed = 0;
    for (bool reached = true; reached; ++failed) {
        halcyon_handle h = nullptr;
        collectives_left = failed + 1;
        const int code = halcyon_open(path().c_str(), used, &h);
        reached = collectives_left == 0;
        collectives_left = 0;
        if (!reached && code == HALCYON_ERROR_USAGE && said("in use by another session")) {
            reached = true;  // the server of the open before goes away in its own time
            --failed;
            continue;
        }
        ASSERT_EQ(code, reached ? HALCYON_ERROR_SYSTEM : HALCYON_OK) << failed << ": " << halcyon_error_message();
        if (h != nullptr) {
            ASSERT_EQ(halcyon_close(&h), HALCYON_OK) << halcyon_error_message();
        }
    }
    EXPECT_GT(failed, 10) << "an open agrees on more than that";
    EXPECT_EQ(errors_seen_by_application, 0);
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(used, &now);
    EXPECT_EQ(now, own);
    MPI_Errhandler_free(&now);
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&used);
    expect_session();
}

}  // namespace
