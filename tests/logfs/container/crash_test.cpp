#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "logfs/container/format/format.hpp"
#include "logfs/container/tools/repair.hpp"
#include "logfs/container/writing/other_writers.hpp"
#include "open_container.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;
using tests::open_container;

std::string file_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void put_text(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// A reader on a node that has been booted since.
reader_options after_crash() {
    reader_options how = tests::beside_writers();
    how.boot_id = "another boot";
    return how;
}

/// Of each byte, what it may read as after a crash: what it was at the last sync, or anything that came later.
class possible_bytes {
  public:
    explicit possible_bytes(size_t size) : allowed_(size), is_changed_(size) {}
    void synced(const tests::plain_file& file) {
        is_changed_.assign(is_changed_.size(), false);
        for (size_t i = 0; i < allowed_.size(); ++i) {
            allowed_[i].reset();
            allowed_[i].set(i < file.contents().size() ? static_cast<size_t>(file.contents()[i]) : 0);
        }
    }
    void changed(const tests::plain_file& file, int64_t begin, int64_t end) {
        for (auto i = static_cast<size_t>(begin); i < std::min(static_cast<size_t>(end), allowed_.size()); ++i) {
            allowed_[i].set(i < file.contents().size() ? static_cast<size_t>(file.contents()[i]) : 0);
            is_changed_[i] = true;
        }
    }
    void expect(const tests::bytes& contents) const {
        for (size_t i = 0; i < allowed_.size(); ++i) {
            const size_t byte = i < contents.size() ? static_cast<size_t>(contents[i]) : 0;
            ASSERT_TRUE(allowed_[i].test(byte)) << "byte " << i << " reads as " << byte;
        }
    }

    /// Of what was not changed since the last sync, all can be read, though other bytes may not.
    void expect_unchanged(reader& from) const {
        const auto end = std::min(allowed_.size(), static_cast<size_t>(from.size()));
        for (size_t i = 0; i < end; ++i) {
            const size_t begin = i;
            while (i < end && !is_changed_[i]) ++i;
            if (begin == i) continue;
            tests::bytes data(i - begin);
            const auto read = from.read(static_cast<int64_t>(begin), data);
            ASSERT_TRUE(read.ok()) << "bytes " << begin << " to " << i << ": " << read.why().message;
            for (size_t at = begin; at < i; ++at)
                ASSERT_TRUE(allowed_[at].test(static_cast<size_t>(data[at - begin]))) << "byte " << at;
        }
    }

  private:
    std::vector<std::bitset<256>> allowed_;
    std::vector<bool> is_changed_;
};

constexpr int64_t most = 12000;

/// Its data dropping says that the names of both are on the device.
bool is_named(const fs::path& dropping) {
    const std::string data(with_kind(dropping.string(), dropping_kind::data).view());
    return (fs::status(data).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

/// Files as a crash of the node may leave them: of each sector of an index the one that was synced or a later one, data
/// droppings with an end anywhere behind the synced one, unless they are `whole`, and new names there or not, unless
/// they were synced. What a data dropping says of its index may be there or not.
void make_crash_image(const fs::path& synced, const fs::path& current, const fs::path& image, bool whole,
                      std::mt19937_64& random) {
    for (const auto& entry : fs::recursive_directory_iterator(current)) {
        const fs::path inside = fs::relative(entry.path(), current);
        if (entry.is_directory()) {
            fs::create_directories(image / inside);
            continue;
        }
        const std::string now = file_text(entry.path());
        const bool was_there = fs::exists(synced / inside);
        const std::string before = was_there ? file_text(synced / inside) : std::string();
        fs::create_directories((image / inside).parent_path());
        const bool is_index = inside.filename().string().starts_with("index.");
        const bool is_data = inside.filename().string().starts_with("data.");
        const bool is_dropping = is_index || is_data;
        if (!was_there && !(is_dropping && is_named(entry.path())) && random() % 3 == 0) continue;
        if (is_data) {
            const size_t lost = whole ? 0 : random() % (now.size() - before.size() + 1);
            put_text(image / inside, now.substr(0, now.size() - lost));
            if (is_named(entry.path()) && random() % 2 == 0)
                fs::permissions(image / inside, fs::perms::owner_exec, fs::perm_options::add);
            continue;
        }
        if (!is_index) {
            put_text(image / inside, now);
            continue;
        }
        std::string mixed(std::max(now.size(), before.size()), '\0');
        const uint64_t share = random() % 5;
        for (size_t at = 0; at < mixed.size(); at += sector_bytes) {
            const std::string& from = random() % 5 < share ? before : now;
            if (at < from.size()) mixed.replace(at, std::min(sector_bytes, from.size() - at), from, at, sector_bytes);
        }
        put_text(image / inside, mixed);
    }
}

class crash : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(seeds, crash, ::testing::Range(uint64_t{1}, uint64_t{41}));

TEST_P(crash, costs_at_most_what_was_written_since_the_last_sync) {
    std::mt19937_64 random(GetParam());
    tests::watched_files calls;
    open_container in(calls);
    writer_options how;
    how.may_map_index = GetParam() % 3 != 0;
    std::vector<std::unique_ptr<writer>> writers;
    int64_t pid = 1;
    const auto begin_writer = [&] {
        writers.push_back(std::make_unique<writer>(in.of()));
        writers.back()->open(tests::identity(pid++), how).value();
    };
    begin_writer();
    begin_writer();
    tests::plain_file file;
    possible_bytes possible(most + 400);
    possible.synced(file);
    const fs::path synced = in.folder.path() / "synced";
    const fs::path image = in.folder.path() / "image";
    const auto crash_now = [&](bool has_whole_data) {
        fs::remove_all(image);
        make_crash_image(synced, in.path, image, has_whole_data, random);
        container left;
        ASSERT_TRUE(left.open(image.string()).ok());
        {
            reader from(left, after_crash());
            const auto read = from.reload();
            ASSERT_TRUE(read.ok()) << read.why().message;
            ASSERT_NO_FATAL_FAILURE(possible.expect_unchanged(from));
        }
        const auto repaired = repair(left);
        ASSERT_TRUE(repaired.ok()) << repaired.why().message;
        EXPECT_EQ(repaired->lost_records_in, 0U);
        reader from(left, tests::beside_writers());
        const auto read = from.reload();
        ASSERT_TRUE(read.ok()) << read.why().message;
        ASSERT_NO_FATAL_FAILURE(possible.expect(tests::all_of(from)));
        EXPECT_TRUE(repair(left)->done.empty());
    };
    int crashes_in_sync = 0;
    bool may_crash_in_sync = false;
    calls.behind = [&](std::string_view step) {
        // The commit is written, and nothing of the index is synced.
        if (step != "committed" || !std::exchange(may_crash_in_sync, false)) return;
        ++crashes_in_sync;
        crash_now(true);
    };
    // By another process.
    const bool is_done_for_writers = GetParam() % 2 == 0;
    constexpr int64_t most_pids = 1000;
    other_writers others(in.of());
    const auto sync_all = [&] {
        may_crash_in_sync = fs::exists(synced);  // of the first one: later, its index is on the disk
        if (is_done_for_writers) others.sync(tests::identity(most_pids), {}).value();
        for (auto& each : writers) {
            if (is_done_for_writers) break;
            each->sync().value();
            may_crash_in_sync = false;
        }
        fs::remove_all(synced);
        fs::copy(in.path, synced, fs::copy_options::recursive);
        possible.synced(file);
    };
    sync_all();
    size_t turn = 0;
    int64_t offset = 0;
    for (int i = 0; i < 3000; ++i) {
        writer& to = *writers[turn];
        const uint64_t what = random() % 400;
        if (what < 3) {
            sync_all();
        } else if (what < 5) {
            const auto size = static_cast<int64_t>(random() % most);
            const int64_t before = file.size();
            to.truncate(size).value();
            file.truncate(size);
            possible.changed(file, size, std::max(before, int64_t{most} + 400));
        } else if (what < 8) {
            to.settle().value();
            turn = random() % writers.size();
        } else if (what == 8 && writers.size() < 6) {
            begin_writer();
        } else if (what == 9 && writers.size() > 1) {
            to.settle().value();
            to.close().value();
            writers.erase(writers.begin() + static_cast<std::ptrdiff_t>(turn));
            turn = 0;
        } else {
            offset = random() % 3 == 0 ? static_cast<int64_t>(random() % most) : (offset + 150) % most;
            const auto data = tests::random_bytes(random, random() % 3 == 0 ? 1 + random() % 300 : 100);
            to.write(offset, data).value();
            file.write(offset, data);
            possible.changed(file, offset, offset + static_cast<int64_t>(data.size()));
        }
        if (random() % 300 == 0) crash_now(false);
        if (HasFatalFailure()) FAIL() << "operation " << i;
    }
    EXPECT_TRUE(crashes_in_sync > 0 || is_done_for_writers);
}

/// A writer whose records are in one block, and of which each is a write to a place of its own.
class torn_tail : public ::testing::Test {
  protected:
    static constexpr int64_t writes = 120;
    static constexpr int64_t synced = 40;

    void SetUp() override {
        std::mt19937_64 random(5);
        writer& to = in_.add_writer(1);
        for (int64_t i = 0; i < writes; ++i) {
            // Of lengths that differ, so that no two make a pattern.
            to.write(place(i), as_bytes(std::string(static_cast<size_t>(length(i)), 'x'))).value();
            if (i == synced - 1) to.sync().value();
        }
        ASSERT_EQ(to.index().state().end.block, 0U);
        used_ = to.index().file_bytes();
        index_ = in_.index_path(to);
        text_ = file_text(index_);
        to.abandon();
    }
    static int64_t place(int64_t i) { return (i * 7919 % writes) * 1000; }
    static int64_t length(int64_t i) { return 10 + i % 50 + (i % 2) * 100; }

    /// How many of the writes are there, each whole or not at all; those that were synced all are.
    int64_t present(const tests::bytes& contents) {
        int64_t count = 0;
        for (int64_t i = 0; i < writes; ++i) {
            int64_t there = 0;
            for (int64_t at = place(i); at < place(i) + length(i); ++at) {
                if (at < static_cast<int64_t>(contents.size()) && contents[static_cast<size_t>(at)] == std::byte{'x'})
                    ++there;
            }
            EXPECT_TRUE(there == 0 || there == length(i)) << i;
            EXPECT_TRUE(there > 0 || i >= synced) << i;
            count += there > 0 ? 1 : 0;
        }
        return count;
    }

    open_container in_;
    std::string index_;
    std::string text_;
    int64_t used_ = 0;
};

TEST_F(torn_tail, is_cut_at_the_last_valid_record_wherever_it_ends) {
    int64_t before = 0;
    int64_t steps = 0;
    const int64_t first = block_at(0);
    for (int64_t end = first; end <= used_; ++end) {
        // As if the rest never reached the disk; which zeros, as a sum may end with, need not.
        const bool is_torn = static_cast<int64_t>(text_.find_last_not_of('\0', used_ - 1)) >= end;
        std::string torn = text_;
        std::fill(torn.begin() + end, torn.end(), '\0');
        put_text(index_, end % 2 == 0 ? torn : text_.substr(0, static_cast<size_t>(end)));
        const auto from = in_.new_reader(after_crash());
        const auto read = from->reload();
        if (!read) {
            // In front of the last sync: not torn, but damaged.
            EXPECT_EQ(read.why().kind, error_kind::config);
            EXPECT_NE(read.why().message.find(index_), std::string::npos) << read.why().message;
            ASSERT_EQ(before, 0) << end;
            continue;
        }
        const int64_t count = present(tests::all_of(*from));
        ASSERT_GE(count, before) << end;
        if (count > before) ++steps;
        before = count;
        EXPECT_EQ(from->torn_writers(), is_torn ? 1U : 0U) << end;
        // On the node that it was written on and that was not booted since, this was no crash.
        EXPECT_EQ(in_.new_reader(tests::beside_writers())->reload().ok(), !is_torn) << end;
    }
    EXPECT_EQ(before, writes);
    // From each record to the next: all but those that are still in the state, and those that were synced.
    EXPECT_GE(steps, writes - synced - 2);
}

TEST_F(torn_tail, garbage_behind_the_last_valid_record_is_no_record) {
    std::mt19937_64 random(6);
    const int64_t first = block_at(0) + static_cast<int64_t>(sizeof(block_header));
    const int64_t cut = first + (used_ - first) * 2 / 3;
    for (int i = 0; i < 500; ++i) {
        std::string torn = text_;
        for (auto at = static_cast<size_t>(cut); at < torn.size(); ++at) torn[at] = static_cast<char>(random());
        put_text(index_, torn);
        const auto from = in_.new_reader(after_crash());
        ASSERT_TRUE(from->reload().ok());
        const int64_t count = present(tests::all_of(*from));
        ASSERT_GT(count, synced);
        ASSERT_LT(count, writes);
    }
}

TEST_F(torn_tail, repair_makes_it_whole) {
    put_text(index_, text_.substr(0, static_cast<size_t>(used_ - 300)));
    int64_t before = 0;
    {
        const auto from = in_.new_reader(after_crash());
        ASSERT_TRUE(from->reload().ok());
        before = present(tests::all_of(*from));
    }
    repair_options telling;
    telling.only_tells = true;
    EXPECT_FALSE(repair(in_.of(), telling)->done.empty());
    EXPECT_FALSE(in_.new_reader()->reload().ok());
    const auto done = repair(in_.of());
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_EQ(done->rewritten, 1U);
    EXPECT_EQ(done->lost_records_in, 0U);
    const auto from = in_.new_reader();
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(present(tests::all_of(*from)), before);
}

}  // namespace
}  // namespace halcyon::logfs
