#include <linux/falloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calls/backend_conformance/fixture.hpp"
#include "calls/backends/synced_by_each.hpp"
#include "logfs/backend/mounted_log.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/reading/quick_look.hpp"
#include "logfs/container/reading/synced_head.hpp"

namespace halcyon::logfs {
namespace {

using calls::child_process;
using calls::opened_file;
using calls::signpost;

class log_data : public log_test {
  protected:
    static int set_lock(const opened_file& file, short type, int command) {
        struct flock all {};
        all.l_type = type;
        return files().lock(file.handle(), command, all);
    }
};

TEST_F(log_data, holes_are_told) {
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("text", 100'000), 4);
    EXPECT_EQ(files().resize(file.handle(), 200'000), 0);
    const auto next = [&](int whence, int64_t from) { return files().next_of(file.handle(), whence, from, 200'000); };
    EXPECT_EQ(next(SEEK_DATA, 0), 100'000);
    EXPECT_EQ(next(SEEK_DATA, 100'002), 100'002);
    EXPECT_EQ(next(SEEK_DATA, 100'004), -ENXIO);
    EXPECT_EQ(next(SEEK_HOLE, 0), 0);
    EXPECT_EQ(next(SEEK_HOLE, 100'000), 100'004);
}

TEST_F(log_data, ranges_are_erased_and_reserved) {
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write(std::string(1000, 'x'), 0), 1000);
    EXPECT_EQ(files().reserve(file.handle(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 10, 5000), 0);
    EXPECT_EQ(file.size(), 1000);
    EXPECT_EQ(file.read(2000, 0), std::string(10, 'x') + std::string(990, '\0'));
    EXPECT_EQ(files().reserve(file.handle(), FALLOC_FL_ZERO_RANGE, 5, 2000), 0);
    EXPECT_EQ(file.size(), 2005);
    EXPECT_EQ(file.read(3000, 0), std::string(5, 'x') + std::string(2000, '\0'));
    EXPECT_EQ(files().reserve(file.handle(), FALLOC_FL_KEEP_SIZE, 0, 100'000), 0);
    EXPECT_EQ(file.size(), 2005);
    EXPECT_EQ(files().reserve(file.handle(), FALLOC_FL_INSERT_RANGE, 0, 4096), -EOPNOTSUPP);
    EXPECT_EQ(files().reserve(file.handle(), 0, 0, 0), -EINVAL);
}

/// Long pieces, on any file system.
TEST_F(log_data, the_kernel_copies_between_a_container_and_a_plain_file) {
    const std::string long_one(3 << 20, 'x');
    put_plain("plain", long_one);
    const int plain = ::open(real("plain").c_str(), O_RDWR);
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    // A log is created by a write that knows what it writes.
    EXPECT_EQ(files().copy_in(file.handle(), 0, 1000, plain, 0), 0);
    EXPECT_EQ(file.write("text", 0), 4);
    EXPECT_EQ(files().copy_in(file.handle(), 4, INT64_MAX - 4, plain, 7), (3 << 20) - 7);
    EXPECT_EQ(::lseek(plain, 0, SEEK_CUR), 0);
    EXPECT_EQ(file.read(4 << 20, 0), "text" + long_one.substr(7));
    EXPECT_EQ(files().copy_out(file.handle(), 3, 2 << 20, plain, nullptr), 2 << 20);
    EXPECT_EQ(::lseek(plain, 0, SEEK_CUR), 2 << 20);
    int64_t at = 10;
    EXPECT_EQ(files().copy_out(file.handle(), 0, 2 << 20, plain, &at), 2 << 20);
    EXPECT_EQ(at, 10 + (2 << 20));
    std::string expected = long_one;
    expected[0] = 't';
    expected.replace(10, 4, "text");
    EXPECT_EQ(this->plain("plain"), expected);
    EXPECT_EQ(files().copy_out(file.handle(), 4 << 20, 1000, plain, nullptr), 0);
    // What another process publishes is copied, too.
    child_process other(files(),
                        [&] { return opened_file(files(), path("f"), O_WRONLY).write("abcd", 0) == 4 ? 0 : 1; });
    ASSERT_EQ(other.result(), 0);
    EXPECT_EQ(files().copy_out(file.handle(), 0, 2 << 20, plain, nullptr), 2 << 20);
    EXPECT_EQ(this->plain("plain").substr(2 << 20, 6), "abcdxx");
    ::close(plain);
}

TEST_F(log_data, a_mapping_is_a_copy_that_cannot_be_written_back) {
    put("f", std::string(10'000, 'x'));
    opened_file file(files(), path("f"), O_RDWR);
    const auto map = [&](int protection, int flags, int64_t offset = 0) {
        return files().map(file.handle(), nullptr, 10'000, protection, flags, offset);
    };
    EXPECT_EQ(map(PROT_READ | PROT_WRITE, MAP_SHARED), -ENODEV);
    const int64_t shared = map(PROT_READ, MAP_SHARED);
    ASSERT_GT(shared, 0);
    auto* const text = reinterpret_cast<char*>(shared);
    EXPECT_EQ(std::string(text, 10'000), std::string(10'000, 'x'));
    EXPECT_EQ(mprotect(text, 10'000, PROT_READ | PROT_WRITE), -1) << "what is stored would be lost";
    const int64_t own = map(PROT_READ | PROT_WRITE, MAP_PRIVATE, 4096);
    ASSERT_GT(own, 0);
    auto* const mine = reinterpret_cast<char*>(own);
    EXPECT_EQ(std::string(mine, 5905), std::string(5904, 'x') + '\0');
    mine[0] = 'm';
    EXPECT_EQ(file.read(1, 4096), "x");
    EXPECT_EQ(map(PROT_READ, MAP_SHARED, 100), -EINVAL);
    munmap(text, 10'000);
    munmap(mine, 10'000);
}

TEST_F(log_data, a_reader_that_comes_to_the_end_sees_what_was_added) {
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("one", 0), 3);
    const signpost begun;
    const signpost grown;
    child_process child(files(), [&] {
        opened_file own(files(), path("f"), O_RDONLY);
        if (own.read(3, 0) != "one") return 1;
        begun.set();
        grown.wait();
        return own.read(10, 3) == "two" && own.size() == 6 ? 0 : 2;
    });
    begun.wait();
    EXPECT_EQ(file.write("two", 3), 3);
    grown.set();
    EXPECT_EQ(child.result(), 0);
}

/// Reads see what others had synced before a sync, and what is written behind it is later than that, whatever clocks
/// say.
TEST_F(log_data, a_sync_takes_what_others_have_synced_to_whoever_uses_the_file_next) {
    for (const bool is_read : {true, false}) {
        opened_file file(files(), path("f"), O_CREAT | O_RDWR | O_TRUNC);
        EXPECT_EQ(file.write("one", 0), 3);
        opening how;
        how.may_write = true;
        log_file elsewhere;
        writer_identity who;
        who.set_host("node2");
        who.pid = 2;
        elsewhere.open(real("f"), who, how).value();
        elsewhere.raise_epoch(elsewhere.propose_epoch() + 3'600'000'000'000).value();  // its clock is an hour ahead
        elsewhere.write(0, std::as_bytes(std::span("two", 3))).value();
        elsewhere.sync().value();
        EXPECT_EQ(files().sync(file.handle(), false), 0);
        if (is_read) {
            EXPECT_EQ(file.read(3, 0), "two");
        } else {
            EXPECT_EQ(file.write("h", 1), 1);
            EXPECT_EQ(content("f"), "tho");
        }
    }
}

/// Whether others have published is asked of a file. Without a descriptor for that, old bytes would be given for right.
TEST_F(log_data, what_others_wrote_is_seen_or_refused_where_no_descriptor_is_free) {
    put("f", "old");
    ASSERT_EQ(::unlink((real("f") + "/halcyon-descriptor").c_str()), 0);
    const signpost read_once;
    const signpost written;
    child_process child(files(), [&] {
        opened_file own(files(), path("f"), O_RDONLY);
        if (own.read(3, 0) != "old") return 1;
        read_once.set();
        written.wait();
        rlimit before{};
        getrlimit(RLIMIT_NOFILE, &before);
        const rlimit none{0, before.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &none) != 0) return 2;
        const std::string found = own.read(3, 0);
        if (found != "new" && found != "errno " + std::to_string(EMFILE)) return 3;
        if (setrlimit(RLIMIT_NOFILE, &before) != 0) return 4;
        return own.read(3, 0) == "new" ? 0 : 5;
    });
    read_once.wait();
    opened_file file(files(), path("f"), O_RDWR);
    EXPECT_EQ(file.write("new", 0), 3);
    EXPECT_EQ(files().sync(file.handle(), false), 0);
    written.set();
    EXPECT_EQ(child.result(), 0);
}

/// Up to which state others have synced for the writers of a container.
std::vector<uint64_t> claims_of(const std::string& container) {
    std::vector<uint64_t> all;
    for (const auto& each : std::filesystem::recursive_directory_iterator(container)) {
        dropping_name name;
        const std::string file = each.path().filename();
        if (!parse_dropping_name(file, name) || name.kind != dropping_kind::index) continue;
        std::vector<std::byte> head(block_bytes);
        std::ifstream(each.path()).read(reinterpret_cast<char*>(head.data()), block_bytes);
        all.push_back(synced_head(head.data(), salt_of(name.created_ns, name.pid)).claimed());
    }
    return all;
}

TEST_F(log_data, a_sync_is_one_of_what_killed_and_ended_processes_wrote) {
    put("f", "");
    for (const bool is_killed : {true, false}) {
        child_process writer(files(), [&] {
            opened_file own(files(), path("f"), O_WRONLY);
            own.write("some", 0);
            if (is_killed) raise(SIGKILL);
            return 0;
        });
        static_cast<void>(writer.result());
    }
    const std::vector<uint64_t> before = claims_of(real("f"));
    EXPECT_EQ(before, std::vector<uint64_t>(2));
    opened_file file(files(), path("f"), O_RDONLY);
    EXPECT_EQ(files().sync(file.handle(), false), 0);
    for (const uint64_t each : claims_of(real("f"))) EXPECT_GT(each, 1U);
}

TEST_F(log_data, a_sync_of_ranks_together_is_one_of_each_ones_own) {
    put("f", "text of another writer");
    opened_file file(files(), path("f"), O_RDONLY);
    {
        const calls::backends::synced_by_each together;
        EXPECT_EQ(files().sync(file.handle(), false), 0);
    }
    EXPECT_EQ(claims_of(real("f")), std::vector<uint64_t>(1));
    EXPECT_EQ(files().sync(file.handle(), false), 0);
    EXPECT_GT(claims_of(real("f")).at(0), 1U);
}

TEST_F(log_data, what_is_done_with_a_lock_is_seen_by_who_has_it_next) {
    constexpr int processes = 4;
    constexpr int rounds = 200;
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("00000", 0), 5);
    std::vector<std::unique_ptr<child_process>> children;
    for (int number = 0; number < processes; ++number) {
        children.push_back(std::make_unique<child_process>(files(), [&] {
            opened_file own(files(), path("f"), O_RDWR);
            for (int round = 0; round < rounds; ++round) {
                if (set_lock(own, F_WRLCK, F_SETLKW) != 0) return 1;
                char next[12];
                snprintf(next, sizeof next, "%05d", std::stoi(own.read(5, 0)) + 1);
                if (own.write(next, 0) != 5) return 2;
                if (set_lock(own, F_UNLCK, F_SETLK) != 0) return 3;
            }
            return 0;
        }));
    }
    for (const auto& child : children) EXPECT_EQ(child->result(), 0);
    EXPECT_EQ(content("f"), "00800");
}

TEST_F(log_data, a_fork_leaves_both_with_the_file_as_it_was) {
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("aaaa", 0), 4);
    const signpost written_here;
    const signpost written_there;
    child_process child(files(), [&] {
        if (file.read(10, 0) != "aaaa") return 1;
        if (file.write("b", 1) != 1) return 2;
        written_there.set();
        written_here.wait();
        return file.read(10, 0) == "abaac" ? 0 : 3;
    });
    written_there.wait();
    EXPECT_EQ(file.write("c", 4), 1);
    written_here.set();
    EXPECT_EQ(child.result(), 0);
    EXPECT_EQ(content("f"), "abaac");
}

TEST_F(log_data, another_program_does_not_take_a_writer_for_open) {
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("text", 0), 4);
    files().before_exec();
    EXPECT_EQ(file.write("more", 4), 4) << "exec failed";
    EXPECT_EQ(file.read(10, 0), "textmore");
    int droppings = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(real("f")))
        droppings += entry.path().filename().string().rfind("index.", 0) == 0 ? 1 : 0;
    EXPECT_EQ(droppings, 2) << "the first writer has ended";
}

TEST_F(log_data, writers_end_with_their_process) {
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("text", 0), 4);
    const auto all_have_ended = [&] {
        container of;
        of.open(real("f")).value();
        written_state found;
        return look_quickly(of, {}, found) && found.bytes == 4;
    };
    EXPECT_FALSE(all_have_ended());
    files().before_end();
    EXPECT_TRUE(all_have_ended());
    EXPECT_EQ(file.write("more", 0), 4) << "another thread, before it ends, too";
    EXPECT_EQ(file.read(10, 0), "more");
}

TEST_F(log_data, pieces_are_appended_as_one) {
    opened_file file(files(), path("f"), O_CREAT | O_RDWR | O_APPEND);
    std::string text = "onetwothree";
    const iovec pieces[] = {{text.data(), 3}, {text.data() + 3, 3}, {text.data() + 6, 5}};
    int64_t at = -1;
    EXPECT_EQ(files().append(file.handle(), pieces, 3, at), 11);
    EXPECT_EQ(at, 0);
    EXPECT_EQ(files().append(file.handle(), pieces, 2, at), 6);
    EXPECT_EQ(at, 11);
    EXPECT_EQ(file.read(100, 0), "onetwothreeonetwo");
}

TEST_F(log_data, a_bad_pointer_is_an_error) {
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("text", 0), 4);
    const iovec nowhere{reinterpret_cast<void*>(8), 4};
    EXPECT_EQ(files().write(file.handle(), &nowhere, 1, 0), -EFAULT);
    EXPECT_EQ(files().read(file.handle(), &nowhere, 1, 0), -EFAULT);
    EXPECT_EQ(file.read(10, 0), "text");
}

}  // namespace
}  // namespace halcyon::logfs
