// What others find when a process is killed before or behind any system call of the backend.
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "killed_at_step.hpp"
#include "logfs/backend/mounted_log.hpp"

namespace halcyon::logfs {
namespace {

using calls::opened_file;
using names = std::vector<std::string>;

const std::string absent = "errno 2";

class log_killed : public log_test {
  protected:
    /// `work` in a process that is killed at each of its steps in turn, after `prepare`, before `look`.
    template <class Prepare, class Work, class Look>
    void at_each_step(Prepare prepare, Work work, Look look) {
        long step = 0;
        for (;; ++step) {
            ASSERT_LT(step, 1000);
            prepare();
            const auto in_child = [&] {
                files().after_fork();
                if (!work()) _exit(1);
            };
            const bool was_killed = tests::killed_at(step, in_child, look);
            ASSERT_FALSE(HasFailure()) << "killed at step " << step;
            if (!was_killed) break;
        }
        look();
        EXPECT_GE(step, 4) << "the test shows nothing";
    }
    bool do_append(const std::string& name, const std::string& text) {
        opened_file file(files(), path(name), O_WRONLY | O_APPEND);
        int64_t offset = 0;
        return file.append(text, offset) == static_cast<ssize_t>(text.size());
    }
    bool do_put(const std::string& name, const std::string& text, int flags = O_CREAT | O_WRONLY | O_TRUNC) {
        opened_file file(files(), path(name), flags);
        return file.write(text, 0) == static_cast<ssize_t>(text.size());
    }
    int unlink(const std::string& name) { return files().unlink(path(name).c_str()); }
    int rename(const std::string& from, const std::string& to, unsigned flags = 0) {
        return files().rename(path(from).c_str(), path(to).c_str(), flags);
    }
    /// A container without what others left in it: the number of steps grows with that.
    void put_new(const std::string& name, const std::string& text) {
        static_cast<void>(unlink(name));
        put(name, text);
    }
    /// Of a container or of a plain file.
    std::string text_of(const std::string& name) {
        if (!std::filesystem::exists(real(name))) return absent;
        return std::filesystem::is_directory(real(name)) ? content(name) : plain(name);
    }
    void expect_one_of(const std::string& found, const names& right) {
        EXPECT_NE(std::find(right.begin(), right.end(), found), right.end()) << found;
    }
    /// Another process, as it removes its first file, ends what killed ones left.
    void expect_nothing_left() {
        const std::string root = mounted_log::of_process().file("");
        calls::child_process next(files(), [&] {
            auto* const fresh = new log_backend;
            if (fresh->start(root.c_str()) != 0) return 1;
            calls::file_backend::handle made{};
            if (fresh->open("/another", O_CREAT | O_RDWR, 0644, made) != 0) return 2;
            fresh->close(made);
            return fresh->unlink("/another") == 0 ? 0 : 3;
        });
        EXPECT_EQ(next.result(), 0);
        for (const auto& each : std::filesystem::directory_iterator(root))
            EXPECT_FALSE(each.path().filename().string().starts_with(".halcyon-removed-")) << each.path();
    }
};

TEST_F(log_killed, while_it_creates_a_file_leaves_one_that_is_whole_or_none) {
    at_each_step([&] { static_cast<void>(unlink("f")); }, [&] { return do_put("f", "text"); },
                 [&] {
                     expect_one_of(text_of("f"), {absent, "", "text"});
                     EXPECT_TRUE(do_put("f", "again"));
                     EXPECT_EQ(content("f"), "again");
                 });
}

TEST_F(log_killed, while_it_creates_a_file_that_has_to_be_new_does_not_keep_others_from_it) {
    constexpr int alone = O_CREAT | O_EXCL | O_RDWR;
    at_each_step([&] { static_cast<void>(unlink("f")); }, [&] { return do_put("f", "text", alone); },
                 [&] {
                     const std::string found = text_of("f");
                     expect_one_of(found, {absent, "", "text"});
                     EXPECT_EQ(opened_file(files(), path("f"), alone).result(), found == absent ? 0 : -EEXIST);
                 });
}

TEST_F(log_killed, while_it_writes_a_file_anew_leaves_the_old_text_or_the_new_one) {
    at_each_step([&] { put_new("f", "the old text"); }, [&] { return do_put("f", "new"); },
                 [&] {
                     expect_one_of(text_of("f"), {"the old text", "", "new"});
                 });
}

TEST_F(log_killed, while_it_appends_leaves_all_of_it_or_nothing_and_no_lock) {
    at_each_step([&] { put_new("f", "one"); }, [&] { return do_append("f", " two"); },
                 [&] {
                     const std::string found = text_of("f");
                     expect_one_of(found, {"one", "one two"});
                     EXPECT_TRUE(do_append("f", " three"));
                     EXPECT_EQ(content("f"), found + " three");
                 });
}

TEST_F(log_killed, while_it_cuts_a_file_leaves_it_cut_or_not) {
    at_each_step([&] { put_new("f", "0123456789"); },
                 [&] {
                     opened_file file(files(), path("f"), O_RDWR);
                     return files().resize(file.handle(), 4) == 0 && file.write("x", 6) == 1;
                 },
                 [&] {
                     expect_one_of(text_of("f"), {"0123456789", "0123", std::string("0123\0\0x", 7)});
                 });
}

TEST_F(log_killed, while_it_gives_a_lock_back_leaves_what_it_wrote_and_no_lock) {
    at_each_step([&] { put_new("f", "one"); },
                 [&] {
                     opened_file file(files(), path("f"), O_RDWR);
                     const int fd = files().descriptor_of(file.handle(), O_RDWR);
                     return fd >= 0 && files().lock_whole(file.handle(), fd, LOCK_EX) == 0 &&
                            file.write("two", 0) == 3 && files().sync(file.handle(), false) == 0 &&
                            files().lock_whole(file.handle(), fd, LOCK_UN) == 0;
                 },
                 [&] {
                     opened_file file(files(), path("f"), O_RDWR);
                     const int fd = files().descriptor_of(file.handle(), O_RDWR);
                     EXPECT_EQ(files().lock_whole(file.handle(), fd, LOCK_EX | LOCK_NB), 0);
                     expect_one_of(file.read(10, 0), {"one", "two"});
                     EXPECT_EQ(files().lock_whole(file.handle(), fd, LOCK_UN), 0);
                     ::close(fd);
                 });
}

TEST_F(log_killed, while_it_removes_a_file_leaves_all_of_it_or_nothing) {
    at_each_step([&] { put_new("f", "text"); }, [&] { return unlink("f") == 0; },
                 [&] {
                     expect_one_of(text_of("f"), {"text", absent});
                     expect_nothing_left();
                     put("f", "again");
                     EXPECT_EQ(content("f"), "again");
                     EXPECT_EQ(unlink("f"), 0);
                 });
}

TEST_F(log_killed, while_it_removes_a_directory_does_not_keep_others_from_it) {
    const auto make = [&] {
        static_cast<void>(files().make_directory(path("d").c_str(), 0755));
        std::filesystem::create_directories(real("d") + "/.halcyon-begun-1/hostdir.1");
        put_plain("d/.halcyon-begun-1/hostdir.1/data.node1.1.1", "x");
        std::filesystem::create_directories(real("d") + "/.halcyon-removed-1/hostdir.1");
        put_plain("d/.halcyon-replaced-1-1", "x");
        std::filesystem::create_directories(real("d") + "/.halcyon-replaced-1-2/hostdir.1");
    };
    at_each_step(
        make, [&] { return files().remove_directory(path("d").c_str()) == 0; },
        [&] {
            const int expected = std::filesystem::exists(real("d")) ? 0 : -ENOENT;
            EXPECT_EQ(files().remove_directory(path("d").c_str()), expected);
        });
}

/// What has which of two names, of a rename of the first one onto the second one.
using two = std::pair<std::string, std::string>;

class log_killed_renaming : public log_killed {
  protected:
    void expect(const std::vector<two>& right) {
        const two found{text_of("a"), text_of("b")};
        EXPECT_NE(std::find(right.begin(), right.end(), found), right.end()) << found.first << ", " << found.second;
        expect_nothing_left();
    }
    void remove_both() {
        for (const char* const name : {"a", "b"}) {
            static_cast<void>(unlink(name));
            std::filesystem::remove_all(real(name));
        }
    }
    const std::vector<two> replaced{{"A", "B"}, {"B", "A"}, {absent, "A"}};
};

TEST_F(log_killed_renaming, onto_a_container_leaves_both_or_the_new_one) {
    at_each_step([&] { put_new("a", "A"), put_new("b", "B"); }, [&] { return rename("a", "b") == 0; },
                 [&] { expect(replaced); });
}

TEST_F(log_killed_renaming, of_a_plain_file_onto_a_container_leaves_both_or_the_new_one) {
    const auto make = [&] {
        remove_both();
        put_plain("a", "A");
        put("b", "B");
    };
    at_each_step(
        make, [&] { return rename("a", "b") == 0; }, [&] { expect(replaced); });
}

TEST_F(log_killed_renaming, of_a_container_onto_a_plain_file_leaves_both_or_the_new_one) {
    const auto make = [&] {
        remove_both();
        put("a", "A");
        put_plain("b", "B");
    };
    at_each_step(
        make, [&] { return rename("a", "b") == 0; }, [&] { expect(replaced); });
}

TEST_F(log_killed, while_it_changes_attributes_leaves_the_old_ones_or_the_new_ones) {
    constexpr timespec times[2] = {{1000, 0}, {2000, 0}};
    const auto status = [&] {
        struct stat out {};
        EXPECT_EQ(files().stat_path(path("f").c_str(), true, out), 0);
        return out;
    };
    at_each_step([&] { put_new("f", "text"); },
                 [&] {
                     return files().set_mode(path("f").c_str(), 0600) == 0 &&
                            files().set_times(path("f").c_str(), true, times) == 0;
                 },
                 [&] {
                     const struct stat found = status();
                     expect_one_of(std::to_string(found.st_mode & 0777), {std::to_string(0644), std::to_string(0600)});
                     EXPECT_TRUE(found.st_mtim.tv_sec == 2000 || found.st_mtim.tv_sec > 1'000'000'000)
                         << found.st_mtim.tv_sec;
                     EXPECT_EQ(content("f"), "text");
                     EXPECT_EQ(files().set_times(path("f").c_str(), true, times), 0);
                     EXPECT_EQ(status().st_mtim.tv_sec, 2000);
                     EXPECT_EQ(files().set_mode(path("f").c_str(), 0640), 0);
                     EXPECT_EQ(status().st_mode & 0777, 0640U);
                 });
}

}  // namespace
}  // namespace halcyon::logfs
