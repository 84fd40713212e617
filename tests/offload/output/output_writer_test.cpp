#include "offload/output/output_writer.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "offload/output/run_mark.hpp"
#include "offload/output/run_records.hpp"
#include "temporary_folder.hpp"

namespace {

/// The regular files that were synced, and the folders.
std::multiset<std::filesystem::path> synced_files, synced_folders;

}  // namespace

/// Stands before the C library's, for the store modules too.
extern "C" __attribute__((visibility("default"))) int fsync(int fd) {
    const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
    if (std::filesystem::is_regular_file(path)) synced_files.insert(path);
    if (std::filesystem::is_directory(path)) synced_folders.insert(path);
    return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace halcyon::offload {
namespace {

std::string configuration(const std::string& type) {
    return R"(
halcyon: 1
simulation: cloud
data: {layouts: {one: {type: float32, dimensions: []}}, variables: {theta: {layout: one}}}
stores: {main: {type: )" +
           type + ", path: out}}\n";
}

/// With a store module that publishes files, and one that publishes folders.
class writing : public ::testing::TestWithParam<const char*> {
  protected:
    std::unique_ptr<output_writer> server() { return server_of("one run"); }
    std::unique_ptr<output_writer> server_of(const std::string& run) { return writer("n0000", run); }
    std::unique_ptr<output_writer> writer(const std::string& name, const std::string& run = "one run") {
        return output_writer::open(data_, folder_.path(), name, 1, run).value();
    }
    static void write(output_writer& to, int64_t iteration, int32_t part = 0) {
        output_writer::request r;
        r.iterations = {iteration};
        r.part = part;
        r.visible = part == 0;
        ASSERT_TRUE(to.write(std::move(r)).ok());
    }
    std::vector<std::string> names() const {
        std::vector<std::string> list;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "out"))
            if (!is_run_mark(entry.path().filename())) list.push_back(entry.path().filename());
        std::sort(list.begin(), list.end());
        return list;
    }
    std::filesystem::path out() const { return folder_.path() / "out"; }
    /// What somebody else left there: for a data file what this store's are.
    void leave(const std::string& name) const {
        const bool folder = traits_.is_folder && name.find(traits_.ending) != std::string::npos;
        if (folder) std::filesystem::create_directories(out() / name / "theta");
        std::ofstream(folder ? out() / name / "theta/zarr.json" : out() / name) << "half";
    }
    /// A name with the ending of this store's data files in the place of "%"; lists are sorted.
    std::string data(std::string name) const {
        const size_t at = name.find('%');
        return at == std::string::npos ? name : name.replace(at, 1, traits_.ending);
    }
    std::vector<std::string> data(const std::vector<std::string>& names) const {
        std::vector<std::string> list;
        for (const std::string& name : names) list.push_back(data(name));
        std::sort(list.begin(), list.end());
        return list;
    }
    /// What of `out` was synced.
    std::set<std::string> synced() const {
        std::set<std::string> names;
        for (const auto& path : synced_files) names.insert(*path.lexically_relative(out()).begin());
        return names;
    }

  private:
    halcyon::tests::temporary_folder folder_;
    const model data_ = parse_model(configuration(GetParam()), "cloud.yaml", {}).value();
    const store_traits traits_ = load_store_module(GetParam()).value().traits;
};

TEST_P(writing, parts_of_an_iteration_are_hidden_until_its_file_is_written) {
    const auto first = server();
    write(*first, 3, first->next_part(0, 3));
    write(*first, 3, first->next_part(0, 3));
    write(*first, 2);
    EXPECT_EQ(names(), data(std::vector<std::string>{".cloud.n0000.i00000003.p01%", ".cloud.n0000.i00000003.p02%",
                                                     "cloud.n0000.i00000002%"}));
    write(*first, 3);
    EXPECT_EQ(names(), data(std::vector<std::string>{"cloud.n0000.i00000002%", "cloud.n0000.i00000003%",
                                                     "cloud.n0000.i00000003.p01%", "cloud.n0000.i00000003.p02%"}));
}

TEST_P(writing, a_server_that_takes_over_publishes_the_parts_of_the_one_before) {
    const auto first = server();
    write(*first, 3, first->next_part(0, 3));
    write(*first, 12, first->next_part(0, 12));
    const auto second = server();
    EXPECT_EQ(second->next_part(0, 3), 2) << "the part of the first would be overwritten";
    EXPECT_EQ(second->next_part(0, 4), 1);
    write(*second, 3);
    EXPECT_EQ(names(), data(std::vector<std::string>{".cloud.n0000.i00000012.p01%", "cloud.n0000.i00000003%",
                                                     "cloud.n0000.i00000003.p01%"}));
    const auto third = server();
    EXPECT_EQ(third->next_part(0, 3), 2) << "a published part would be overwritten";
}

TEST_P(writing, a_server_that_takes_over_removes_half_files_of_its_own_only) {
    write(*server(), 1);
    leave(data(".cloud.n0000.i00000002.p01%.tmp"));
    leave(data("cloud.n0000.i00000002%.tmp"));
    leave(data("cloud.n0001.i00000002%.tmp"));
    const auto second = server();
    EXPECT_EQ(names(), data(std::vector<std::string>{"cloud.n0000.i00000001%", "cloud.n0001.i00000002%.tmp"}));
}

TEST_P(writing, half_files_of_those_who_died_are_removed_and_no_others) {
    const auto first = server();
    write(*first, 1);
    for (const char* name : {"cloud.c00003.i00000002%.tmp", "cloud.c00004.i00000002%.tmp"})
        leave(data(std::string(name)));
    for (const char* name :
         {"cloud.c00003.i00000001%", "cloud.c000030.i00000002%.tmp", "cloud.tmp", "cloud.c00005.i00000002%.tmp",
          "storm.c00003.i00000002%.tmp", ".counts-c00003.json.room", ".counts-c00005.json.room"})
        leave(data(std::string(name)));
    first->remove_halves_of({});
    EXPECT_EQ(names().size(), 10U);
    first->remove_halves_of({"c00003", "c00004"});
    EXPECT_EQ(names(),
              data(std::vector<std::string>{".counts-c00005.json.room", "cloud.c00003.i00000001%",
                                            "cloud.c000030.i00000002%.tmp", "cloud.c00005.i00000002%.tmp",
                                            "cloud.n0000.i00000001%", "cloud.tmp", "storm.c00003.i00000002%.tmp"}));
}

TEST_P(writing, a_sync_is_of_all_that_this_writer_published_and_of_those_it_is_told_of) {
    const auto first = server();
    const auto client = writer("c00001"), stranger = writer("c00002");
    write(*first, 1);
    output_writer::request alone;
    alone.iterations = {1};
    alone.part = client->next_part(0, 1);
    ASSERT_TRUE(client->write(alone).ok());
    ASSERT_TRUE(stranger->write(alone).ok());
    leave(data("cloud.c00001.i00000002%.tmp"));
    synced_files.clear();
    synced_folders.clear();
    const output_writer::writers_meant one = [](const std::string& name) { return name == "c00001"; };
    ASSERT_TRUE(first->sync(one).ok());
    const std::set<std::string> both{data("cloud.c00001.i00000001.p01%"), data("cloud.n0000.i00000001%")};
    EXPECT_EQ(synced(), both);
    const size_t files = synced_files.size();
    EXPECT_EQ(std::set(synced_files.begin(), synced_files.end()).size(), files) << "each file once";
    for (const std::string& name : both)
        for (const auto& entry : std::filesystem::recursive_directory_iterator(out())) {
            if (entry.path().string().find(name) == std::string::npos) continue;
            const auto& seen = entry.is_directory() ? synced_folders : synced_files;
            EXPECT_TRUE(seen.contains(entry.path())) << entry.path();
        }
    ASSERT_TRUE(first->sync(one).ok());
    EXPECT_EQ(synced_files.size(), files) << "nothing again";
    write(*first, 2);
    ASSERT_TRUE(first->sync({}).ok());
    EXPECT_TRUE(synced().contains(data("cloud.n0000.i00000002%")));
    EXPECT_FALSE(synced().contains(data("cloud.c00002.i00000001.p01%")));
}

TEST_P(writing, what_is_written_durably_is_synced_whole_before_it_is_seen) {
    const auto first = server();
    synced_files.clear();
    synced_folders.clear();
    output_writer::request r;
    r.iterations = {1};
    r.sync = true;
    ASSERT_TRUE(first->write(r).ok());
    const auto written = out() / data("cloud.n0000.i00000001%");
    size_t files = 1, folders = 0;
    if (std::filesystem::is_directory(written)) {
        files = 0;
        folders = 1;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(written))
            ++(entry.is_directory() ? folders : files);
    }
    EXPECT_EQ(synced_files.size(), files);
    for (const auto& path : synced_files)
        EXPECT_NE(path.string().find(written.string() + ".tmp"), std::string::npos) << path;
    EXPECT_EQ(synced_folders.count(out()), 1U);
    EXPECT_EQ(synced_folders.size(), folders + 1);
    ASSERT_TRUE(first->sync({}).ok());
    EXPECT_EQ(synced_files.size(), files) << "synced already";
}

TEST_P(writing, what_is_deleted_is_missing_once) {
    const auto first = server();
    for (const int64_t iteration : {1, 2, 3}) write(*first, iteration);
    const auto second = server();
    write(*second, 3);
    EXPECT_EQ(second->missing_files().value(), 0) << "a file that is written again is one file";
    std::filesystem::remove_all(out() / data("cloud.n0000.i00000002%"));
    EXPECT_EQ(second->missing_files().value(), 1);
    EXPECT_FALSE(second->look_for_lost_directories()) << "the directory is there";
    std::filesystem::remove_all(out());
    const auto lost = second->look_for_lost_directories();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->files, 3);
    EXPECT_EQ(second->missing_files().value(), 0) << "they are told already";
    EXPECT_FALSE(second->look_for_lost_directories()) << "told once";
    write(*second, 4);
    EXPECT_EQ(names(), data(std::vector<std::string>{"cloud.n0000.i00000004%"}));
}

TEST_P(writing, a_lost_directory_counts_hidden_parts_and_files_of_all_servers) {
    const auto first = server();
    write(*first, 1);
    write(*first, 3, first->next_part(0, 3));
    first->published((out() / data("cloud.all.i00000002%")).string(), true);
    leave(data("cloud.all.i00000002%"));
    first->published((out() / data("cloud.n0001.i00000002%")).string(), true);
    EXPECT_EQ(first->missing_files().value(), 0);
    const auto second = server();
    std::filesystem::remove_all(out());
    for (const auto* writer : {&first, &second}) {
        const auto lost = (*writer)->look_for_lost_directories();
        ASSERT_TRUE(lost);
        EXPECT_EQ(lost->files, 3);
    }
}

TEST_P(writing, an_early_part_that_is_published_is_one_file) {
    const auto first = server();
    write(*first, 3, first->next_part(0, 3));
    write(*first, 3);
    EXPECT_EQ(first->missing_files().value(), 0);
    std::filesystem::remove_all(out() / data("cloud.n0000.i00000003.p01%"));
    EXPECT_EQ(first->missing_files().value(), 1);
}

TEST_P(writing, a_lost_directory_in_which_another_run_stores_is_left_alone) {
    const auto first = server_of("one run");
    auto records = run_records::open(out().string(), "n0000", "one run").value();
    write(*first, 1);
    std::filesystem::rename(out(), out().string() + "-moved");
    ASSERT_TRUE(set_run_mark(out().string(), "another run").ok());
    const auto second = server_of("another run");
    const auto lost = first->look_for_lost_directories();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->files, 1);

    output_writer::request r;
    r.iterations = {2};
    const auto refused = first->write(r);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.why().message.find(out().string() + " belongs to another run"), std::string::npos)
        << refused.why().message;
    EXPECT_FALSE(first->share_of(r).ok());
    EXPECT_FALSE(first->rebuild_views({}).ok());
    EXPECT_FALSE(records.save({}).ok());
    EXPECT_EQ(names(), std::vector<std::string>{});

    std::filesystem::rename(out(), out().string() + "-of-another");
    EXPECT_FALSE(first->look_for_lost_directories()) << "told once";
    write(*first, 3);
    EXPECT_TRUE(records.save({}).ok());
    EXPECT_EQ(names(), data(std::vector<std::string>{".counts-n0000.json.room", "cloud.n0000.i00000003%",
                                                     "counts-n0000.json", "phases-n0000.csv", "server-n0000.csv"}));
}

/// Memory whose first reader waits until readers of all such memory have come, or 20 s.
class meeting_memory {
  public:
    explicit meeting_memory(size_t count) : count_(count) {
        for (size_t i = 0; i < count_; ++i) {
            void* place = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (place == MAP_FAILED) throw error(system_failure("mmap", errno));
            places_[i] = static_cast<std::byte*>(place);
        }
        current_ = this;
        struct sigaction wait {};
        wait.sa_sigaction = on_touch;
        wait.sa_flags = SA_SIGINFO;
        ::sigaction(SIGSEGV, &wait, &before_);
    }
    ~meeting_memory() {
        ::sigaction(SIGSEGV, &before_, nullptr);
        for (size_t i = 0; i < count_; ++i) ::munmap(places_[i], bytes);
    }
    meeting_memory(const meeting_memory&) = delete;
    meeting_memory& operator=(const meeting_memory&) = delete;

    static constexpr size_t bytes = 4096;
    std::span<const std::byte> operator[](size_t i) const { return {places_[i], bytes}; }
    [[nodiscard]] bool all_met() const { return met_ == count_; }

  private:
    static void on_touch(int signal, siginfo_t* info, void* /*context*/) {
        meeting_memory& m = *current_;
        for (size_t i = 0; i < m.count_; ++i) {
            if (info->si_addr < m.places_[i] || info->si_addr >= m.places_[i] + bytes) continue;
            ++m.come_;
            const timespec little{0, 1'000'000};
            for (int ms = 0; ms < 20'000 && m.come_ < m.count_; ++ms) ::nanosleep(&little, nullptr);
            if (m.come_ >= m.count_) ++m.met_;
            ::mprotect(m.places_[i], bytes, PROT_READ);
            return;
        }
        ::signal(signal, SIG_DFL);  // a fault of another kind
    }

    static inline meeting_memory* current_ = nullptr;
    size_t count_;
    std::array<std::byte*, 8> places_{};
    std::atomic<size_t> come_{0}, met_{0};
    struct sigaction before_ {};
};

/// By construction: no encoder gets on before the others have begun, too.
TEST_P(writing, threads_encode_at_the_same_time) {
    constexpr size_t threads = 3;
    const model packed = parse_model(R"(
halcyon: 1
simulation: cloud
data:
  layouts: {page: {type: float32, dimensions: [1024]}}
  variables: {theta: {layout: page, compression: gzip}}
stores: {main: {path: packed, index: true, type: )" +
                                         std::string(GetParam()) + "}}\n",
                                     "cloud.yaml", {})
                             .value();
    const auto to = output_writer::open(packed, out().parent_path(), "n0000", 1, "one run").value();
    const meeting_memory memory(threads);
    std::vector<std::thread> writers;
    std::atomic<int> written{0};
    for (size_t i = 0; i < threads; ++i)
        writers.emplace_back([&, i] {
            output_writer::request r;
            r.iterations = {static_cast<int64_t>(i)};
            block_view block{&packed.variables[0], r.iterations[0], 0, 0, {}, memory[i]};
            block.shape.dimensions = block.shape.global = {1024};
            block.shape.offset = block.shape.ghost_before = block.shape.ghost_after = {0};
            block.shape.bytes = meeting_memory::bytes;
            r.blocks = {block};
            if (to->write(std::move(r)).ok()) ++written;
        });
    for (std::thread& w : writers) w.join();
    EXPECT_EQ(written, static_cast<int>(threads));
    EXPECT_TRUE(memory.all_met()) << "one encoded after the other";
}

/// While it lives, this process can open no file.
class without_descriptors {
  public:
    without_descriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit none{0, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~without_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

TEST_P(writing, a_directory_that_cannot_be_listed_is_not_taken_for_empty) {
    const auto first = server();
    write(*first, 1);
    const auto missing = [&] {
        const without_descriptors now;
        return first->missing_files();
    }();
    ASSERT_FALSE(missing.ok());
    EXPECT_NE(missing.why().message.find(out().string()), std::string::npos) << missing.why().message;
}

INSTANTIATE_TEST_SUITE_P(stores, writing, ::testing::Values("hdf5", "zarr"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halcyon::offload
