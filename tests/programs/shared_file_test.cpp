// Servers of one MPI world write files together. Each rank is a server with one client; the main thread carries.

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <thread>

#include "base/clock.hpp"
#include "offload/store/job_builder.hpp"
#include "programs/shared_file/world_files.hpp"
#include "sanitized.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::offload;
using halcyon::offload::testing::counting;
using halcyon::offload::testing::job_builder;
namespace fs = std::filesystem;

/// A folder that all ranks see.
class shared_folder {
  public:
    shared_folder() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        char name[] = "/tmp/halcyon-shared-XXXXXX";
        if (rank_ == 0 && ::mkdtemp(name) == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Bcast(name, sizeof name, MPI_BYTE, 0, MPI_COMM_WORLD);
        path_ = name;
    }
    ~shared_folder() {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_ != 0) return;
        if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
        std::error_code none;
        fs::remove_all(path_, none);
    }
    /// Mounts a file system of a few MiB there; false where that is not allowed.
    bool make_small(const std::string& type) {
        int done = 0;
        if (rank_ == 0) {
            if (type == "tmpfs") {
                done = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=4m") == 0 ? 1 : 0;
            } else {
                const std::string image = path_ + ".image";
                const std::string make = "truncate -s 4M " + image + " && mke2fs -q -t " + type + " -m 0 " + image +
                                         " && mount -o loop " + image + " " + path_ + "; rm -f " + image;
                done = std::system((make + " 2>/dev/null >&2; mountpoint -q " + path_).c_str()) == 0 ? 1 : 0;
            }
            mounted_ = done != 0;
        }
        MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return done != 0;
    }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& e : fs::directory_iterator(path_))
            if (e.path().filename() != "lost+found") found.push_back(e.path().filename());
        std::sort(found.begin(), found.end());
        return found;
    }

  private:
    std::string path_;
    int rank_ = 0;
    bool mounted_ = false;
};

/// A server: a store module, and offers made of a job_builder.
class world {
  public:
    world() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        store_.reset(load_store_module("hdf5").value().make_file_store());
    }

    void run(const std::function<void()>& server) {
        std::thread node([&] {
            events.begin(size);
            files.serve([this](uint32_t store, int64_t iteration) {
                wanted_store = store;
                wanted = iteration;
                wanted.notify_all();
            });
            server();
            files.leave();
            EXPECT_TRUE(events.finish(0));
        });
        events.on_event({});
        events.carry();
        node.join();
        events.wait_for_others();
    }

    /// Returns when some server wants `iteration` or a later one.
    void wait_for_wanted(int64_t iteration) {
        for (int64_t told = wanted; told < iteration; told = wanted) wanted.wait(told);
    }

    /// Offers and returns at once; take() waits for what became of it.
    void offer(
        file_job job, int64_t patience_ns = 0, std::function<void()> before_lay_out = [] {}) {
        shared_offer o;
        o.job = std::move(job);
        o.library = &library_;
        o.give_up_ns = monotonic_ns() + patience_ns;
        o.lay_out = [this, before_lay_out = std::move(before_lay_out)](const shared_file& f) {
            before_lay_out();
            return store_->lay_out(f);
        };
        o.publish_parts = [](std::span<const int64_t>) { return result<void>(); };
        o.published = [] {};
        o.done = [this](const shared_outcome& what) {
            outcome_ = what;
            ready_.store(true);
            ready_.notify_all();
        };
        ready_ = false;
        files.offer(std::move(o));
    }
    shared_outcome take() {
        ready_.wait(false);
        return outcome_;
    }

    int rank = 0, size = 0;
    mpi_job_events events{MPI_COMM_WORLD, [] {}};
    world_files files{MPI_COMM_WORLD, events};
    std::atomic<uint32_t> wanted_store{0};
    std::atomic<int64_t> wanted{-1};

  private:
    std::unique_ptr<file_store> store_;
    std::recursive_mutex library_;
    std::atomic<bool> ready_{false};
    shared_outcome outcome_;
};

/// Elements of a dataset; nothing when it is not there.
std::vector<double> read(const std::string& path, const std::string& dataset) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return {};
    std::vector<double> values;
    if (H5Oexists_by_name(file, dataset.c_str(), H5P_DEFAULT) > 0) {
        const hid_t d = H5Dopen2(file, dataset.c_str(), H5P_DEFAULT);
        const hid_t space = H5Dget_space(d);
        values.resize(static_cast<size_t>(H5Sget_simple_extent_npoints(space)));
        H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        H5Sclose(space);
        H5Dclose(d);
    }
    H5Fclose(file);
    return values;
}

/// One rank's block of (ny, 2·size), its two columns, ghosts around.
void add_columns(job_builder& b, const variable& v, int64_t iteration, int rank, int size) {
    std::vector<float> values(4 * 4, -1.0F);
    for (size_t y = 0; y < 2; ++y)
        for (size_t x = 0; x < 2; ++x)
            values[(y + 1) * 4 + x + 1] =
                static_cast<float>(100 * iteration + 10 * static_cast<int64_t>(y) + 2 * rank + static_cast<int>(x));
    b.add_block(v, iteration, rank, {4, 4}, values, {2, 2 * size}, {0, 2 * rank}, {1, 1}, {1, 1});
}

TEST(shared_file, placed_blocks_become_one_array_without_ghosts_and_others_one_for_each_domain) {
    shared_folder folder;
    world w;
    job_builder b;
    variable& v = b.add_variable("theta", scalar_type::float32);
    v.place_id = b.add_place("whole");
    const variable& own = b.add_variable("own", scalar_type::int32);
    for (const int64_t i : {4, 5}) {
        add_columns(b, v, i, w.rank, w.size);
        b.add_block(own, i, w.rank, {1}, std::vector<int32_t>{static_cast<int32_t>(i * 10 + w.rank)});
    }
    const std::string path = folder.path() + "/sim.all.i00000004.h5";
    w.run([&] {
        w.offer(b.job(path, {4, 5}, all_servers));
        const shared_outcome o = w.take();
        EXPECT_TRUE(o.report.ok()) << o.report.why().message;
        EXPECT_EQ(o.iterations, 2);
    });
    EXPECT_EQ(folder.names(), std::vector<std::string>{"sim.all.i00000004.h5"});
    std::vector<double> all;
    for (int t = 4; t < 6; ++t)
        for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 2 * w.size; ++x) all.push_back(100 * t + 10 * y + x);
    EXPECT_EQ(read(path, "theta/whole"), all);
    EXPECT_EQ(read(path, "own/d000000"), (std::vector<double>{40, 50}));
    EXPECT_EQ(read(path, "own/d000001"), (std::vector<double>{41, 51}));
}

TEST(shared_file, what_some_have_not_stays_with_the_others_and_holes_are_fill) {
    shared_folder folder;
    world w;
    job_builder b;
    variable& v = b.add_variable("theta", scalar_type::float32);
    v.place_id = b.add_place("whole");
    // The last rank lacks its block of iteration 0, and has not got to iteration 1.
    const bool last = w.rank == w.size - 1;
    for (const int64_t i : {0, 1})
        if (!last) add_columns(b, v, i, w.rank, w.size);
    const std::vector<int64_t> iterations = last ? std::vector<int64_t>{0} : std::vector<int64_t>{0, 1};
    const std::string path = folder.path() + "/sim.all.i00000000.h5";
    w.run([&] {
        w.offer(b.job(path, iterations, all_servers));
        const shared_outcome o = w.take();
        EXPECT_TRUE(o.report.ok()) << o.report.why().message;
        EXPECT_EQ(o.iterations, 1);
    });
    const std::vector<double> seen = read(path, "theta/whole");
    ASSERT_EQ(seen.size(), 4U * static_cast<size_t>(w.size)) << "one row";
    for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 2 * w.size; ++x) {
            const double value = seen[static_cast<size_t>(2 * w.size * y + x)];
            if (x < 2 * w.size - 2)
                EXPECT_EQ(value, 10 * y + x);
            else
                EXPECT_TRUE(std::isnan(value)) << "the last rank's, which has none";
        }
}

TEST(shared_file, servers_that_begin_with_different_iterations_all_fail_and_meet_at_the_first_that_all_have) {
    shared_folder folder;
    world w;
    job_builder b;
    const variable& own = b.add_variable("own", scalar_type::int32);
    for (const int64_t i : {5, 6, 7, 8}) b.add_block(own, i, w.rank, {1}, std::vector<int32_t>{w.rank});
    const bool behind = w.rank == 0;
    const auto path = [&folder](const char* first) { return folder.path() + "/sim.all.i0000000" + first + ".h5"; };
    w.run([&] {
        for (const int64_t patience_ns : {int64_t{60'000'000'000}, int64_t{0}}) {
            if (behind)
                w.offer(b.job(path("5"), {5, 6, 7}, all_servers), patience_ns);
            else
                w.offer(b.job(path("7"), {7, 8}, all_servers), 60'000'000'000);
            const shared_outcome o = w.take();
            ASSERT_FALSE(o.report.ok());
            EXPECT_NE(o.report.why().message.find("servers begin with different iterations, 5 to 7"), std::string::npos)
                << o.report.why().message;
            EXPECT_EQ(o.iterations, behind ? 2U : 0U) << "7 is not lost, and the others lose nothing";
            EXPECT_EQ(o.try_again, patience_ns > 0) << "all give up when one does";
        }
        w.offer(b.job(path("7"), behind ? std::vector<int64_t>{7} : std::vector<int64_t>{7, 8}, all_servers));
        const shared_outcome o = w.take();
        EXPECT_TRUE(o.report.ok()) << o.report.why().message;
        EXPECT_EQ(o.iterations, 1U);
    });
    EXPECT_EQ(folder.names(), std::vector<std::string>{"sim.all.i00000007.h5"});
}

TEST(shared_file, an_offer_that_was_taken_back_makes_the_others_come_again) {
    shared_folder folder;
    world w;
    job_builder b;
    const variable& own = b.add_variable("own", scalar_type::int32);
    b.add_block(own, 0, w.rank, {1}, std::vector<int32_t>{w.rank});
    const std::string path = folder.path() + "/sim.all.i00000000.h5";
    constexpr int64_t withdrawn = 3, sent_away = 7;  // iterations that stand for words between the servers
    w.run([&] {
        if (w.rank == 0) {
            w.offer(b.job(path, {0}, all_servers));
            EXPECT_TRUE(w.files.withdraw(0));
            EXPECT_FALSE(w.files.withdraw(0));
            w.files.want(0, withdrawn);
            w.wait_for_wanted(sent_away);
            w.offer(b.job(path, {0}, all_servers));
        } else {
            w.wait_for_wanted(withdrawn);
            w.offer(b.job(path, {0}, all_servers));
            EXPECT_EQ(w.take().iterations, 0U);
            w.files.want(0, sent_away);
            w.offer(b.job(path, {0}, all_servers));
        }
        shared_outcome o = w.take();
        while (o.iterations == 0) {
            w.offer(b.job(path, {0}, all_servers));
            o = w.take();
        }
        EXPECT_TRUE(o.report.ok());
    });
    EXPECT_EQ(folder.names(), std::vector<std::string>{"sim.all.i00000000.h5"});
}

TEST(shared_file, who_has_finished_takes_part_with_nothing) {
    shared_folder folder;
    world w;
    job_builder b;
    const variable& own = b.add_variable("own", scalar_type::int32);
    b.add_block(own, 0, w.rank, {1}, std::vector<int32_t>{w.rank + 5});
    const std::string path = folder.path() + "/sim.all.i00000000.h5";
    w.run([&] {
        if (w.rank == 0) return;
        w.offer(b.job(path, {0}, all_servers));
        const shared_outcome o = w.take();
        EXPECT_TRUE(o.report.ok()) << o.report.why().message;
    });
    EXPECT_EQ(read(path, "own/d000001"), std::vector<double>{6});
    EXPECT_EQ(read(path, "own/d000000"), std::vector<double>{});
}

TEST(shared_file, a_server_without_memory_for_a_block_fails_the_file_and_the_others_do_not_wait_for_it) {
    if (tests::sanitized) GTEST_SKIP() << "sanitizers end a program that asks for too much memory";
    shared_folder folder;
    world w;
    job_builder b;
    variable& v = b.add_variable("theta", scalar_type::float32);
    v.precision = precision::half;
    block_view& block = b.add_block(v, 0, w.rank, {100}, counting<float>(100));
    const std::span<const std::byte> values = block.data;
    const std::string path = folder.path() + "/sim.all.i00000000.h5";
    w.run([&] {
        // No machine has room for the half-precision copy of so many values.
        if (w.rank == w.size - 1) block.data = {values.data(), size_t{1} << 62};
        w.offer(b.job(path, {0}, all_servers));
        const shared_outcome o = w.take();
        ASSERT_FALSE(o.report.ok());
        EXPECT_EQ(o.report.why().system_errno, ENOMEM) << o.report.why().message;
        EXPECT_NE(o.report.why().message.find("sim.all.i00000000.h5: 'theta'"), std::string::npos)
            << o.report.why().message;
        EXPECT_TRUE(folder.names().empty());
        block.data = values;
        w.offer(b.job(path, {0}, all_servers));
        EXPECT_TRUE(w.take().report.ok());
    });
    EXPECT_EQ(folder.names(), std::vector<std::string>{"sim.all.i00000000.h5"});
}

TEST(shared_file, what_a_server_throws_alone_is_a_failure_for_all) {
    shared_folder folder;
    world w;
    job_builder b;
    b.add_block(b.add_variable("own", scalar_type::int32), 0, w.rank, {1}, std::vector<int32_t>{w.rank});
    const std::string path = folder.path() + "/sim.all.i00000000.h5";
    w.run([&] {
        w.offer(b.job(path, {0}, all_servers), 0, [] { throw std::bad_alloc(); });
        const shared_outcome o = w.take();
        ASSERT_FALSE(o.report.ok());
        EXPECT_EQ(o.report.why().system_errno, ENOMEM) << o.report.why().message;
    });
    EXPECT_TRUE(folder.names().empty());
}

class full_disk : public ::testing::TestWithParam<const char*> {};

TEST_P(full_disk, fails_alike_everywhere_leaves_nothing_and_the_next_file_is_stored) {
    shared_folder folder;
    if (!folder.make_small(GetParam())) GTEST_SKIP() << "cannot mount a small file system of type " << GetParam();
    world w;
    job_builder large, small;
    const variable& v = large.add_variable("v", scalar_type::float32);
    large.add_block(v, 0, w.rank, {1 << 20}, std::vector<float>(1 << 20));
    small.add_block(small.add_variable("v", scalar_type::float32), 1, w.rank, {100}, counting<float>(100));
    w.run([&] {
        for (int round = 0; round < 3; ++round) {
            w.offer(large.job(folder.path() + "/sim.all.i00000000.h5", {0}, all_servers),
                    round == 0 ? 60'000'000'000 : 0);
            const shared_outcome o = w.take();
            ASSERT_FALSE(o.report.ok());
            EXPECT_NE(o.report.why().message.find("sim.all.i00000000.h5"), std::string::npos) << o.report.why().message;
            EXPECT_EQ(o.report.why().system_errno, ENOSPC) << o.report.why().message;
            EXPECT_EQ(o.try_again, round == 0);
            EXPECT_TRUE(folder.names().empty());
        }
        w.offer(small.job(folder.path() + "/sim.all.i00000001.h5", {1}, all_servers));
        const shared_outcome o = w.take();
        EXPECT_TRUE(o.report.ok()) << o.report.why().message;
    });
    EXPECT_EQ(folder.names(), std::vector<std::string>{"sim.all.i00000001.h5"});
}

// ext2 cannot set room aside: there the disk is full in the middle of writing.
INSTANTIATE_TEST_SUITE_P(on, full_disk, ::testing::Values("tmpfs", "ext2"));

}  // namespace
