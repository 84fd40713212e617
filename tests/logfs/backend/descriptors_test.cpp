#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls/backends/hidden_descriptors.hpp"
#include "calls/backends/kept_access.hpp"
#include "logfs/backend/mounted_log.hpp"

namespace halcyon::logfs {
namespace {

using calls::child_process;
using calls::file_backend;
using calls::opened_file;

class log_descriptors : public log_test {
  protected:
    /// A descriptor of the application's.
    class descriptor {
      public:
        descriptor(log_backend& files, const opened_file& file, int flags)
            : fd_(files.descriptor_of(file.handle(), flags)) {}
        explicit descriptor(int fd) : fd_(fd) {}
        ~descriptor() {
            if (fd_ >= 0) ::close(fd_);
        }
        descriptor(const descriptor&) = delete;
        descriptor& operator=(const descriptor&) = delete;
        [[nodiscard]] int get() const { return fd_; }
        [[nodiscard]] std::string name() const {
            return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd_)).string();
        }

      private:
        int fd_;
    };

    /// What the descriptor stands for, found out anew.
    class adopted {
      public:
        adopted(log_backend& files, const descriptor& of)
            : files_(files), result_(files.adopt_descriptor(of.get(), of.name().c_str(), handle_, access_)) {}
        ~adopted() {
            if (result_ == 0) files_.close(handle_);
        }
        adopted(const adopted&) = delete;
        adopted& operator=(const adopted&) = delete;
        [[nodiscard]] int result() const { return result_; }
        [[nodiscard]] int access() const { return access_; }
        std::string read() {
            std::string text(100, '?');
            const iovec piece{text.data(), text.size()};
            const ssize_t got = files_.read(handle_, &piece, 1, 0);
            if (got < 0) return "errno " + std::to_string(-got);
            text.resize(static_cast<size_t>(got));
            return text;
        }

      private:
        log_backend& files_;
        file_backend::handle handle_ = 0;
        int access_ = -1;
        int result_;
    };
};

TEST_F(log_descriptors, one_can_be_neither_read_nor_written_nor_mapped_past_the_library) {
    put("f", "text");
    char byte = 'x';
    for (const int access : {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_APPEND}) {
        const opened_file file(files(), path("f"), access);
        const descriptor fd(files(), file, access);
        EXPECT_EQ(::read(fd.get(), &byte, 1), -1);
        EXPECT_EQ(errno, EISDIR);
        EXPECT_EQ(::pread(fd.get(), &byte, 1, 0), -1);
        EXPECT_EQ(::write(fd.get(), &byte, 1), -1);
        EXPECT_EQ(errno, EBADF);
        EXPECT_EQ(::pwrite(fd.get(), &byte, 1, 0), -1);
        EXPECT_EQ(::ftruncate(fd.get(), 1), -1);
        EXPECT_EQ(::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd.get(), 0), MAP_FAILED);
        struct stat shown {};
        EXPECT_EQ(::fstat(fd.get(), &shown), 0);
        EXPECT_TRUE(S_ISDIR(shown.st_mode));
        const std::string name = "/proc/self/fd/" + std::to_string(fd.get());
        EXPECT_EQ(::open(name.c_str(), O_WRONLY), -1);
        const descriptor again(::open(name.c_str(), O_RDONLY));
        EXPECT_EQ(::read(again.get(), &byte, 1), -1);
    }
    EXPECT_EQ(content("f"), "text");
}

TEST_F(log_descriptors, duplicates_have_one_position) {
    put("f", "text");
    const opened_file file(files(), path("f"), O_RDWR);
    const descriptor fd(files(), file, O_RDWR);
    const descriptor same(::dup(fd.get()));
    EXPECT_EQ(::lseek(fd.get(), 1'000'000, SEEK_SET), 1'000'000);
    EXPECT_EQ(::lseek(same.get(), 0, SEEK_CUR), 1'000'000);
}

TEST_F(log_descriptors, one_says_which_file_it_stands_for_and_how_it_was_opened) {
    put("f", "text");
    for (const int access : {O_RDONLY, O_WRONLY, O_RDWR}) {
        const opened_file file(files(), path("f"), access);
        const descriptor fd(files(), file, access);
        adopted again(files(), fd);
        ASSERT_EQ(again.result(), 0);
        EXPECT_EQ(again.access(), access);
        EXPECT_EQ(again.read(), "text");
    }
}

TEST_F(log_descriptors, one_is_known_again_when_its_file_was_moved_and_when_it_was_removed) {
    put("f", "text");
    const opened_file file(files(), path("f"), O_RDWR);
    const descriptor fd(files(), file, O_RDWR);
    ASSERT_EQ(files().rename(path("f").c_str(), path("g").c_str(), 0), 0);
    EXPECT_EQ(adopted(files(), fd).read(), "text");
    const std::string away = mounted_log::of_process().file("") + "../away-" + std::to_string(getpid());
    std::filesystem::rename(real("g"), away);
    EXPECT_EQ(adopted(files(), fd).read(), "text");
    std::filesystem::rename(away, real("g"));
    ASSERT_EQ(files().unlink(path("g").c_str()), 0);
    EXPECT_EQ(adopted(files(), fd).read(), "text");
}

TEST_F(log_descriptors, one_of_another_file_is_not_taken) {
    put_plain("plain", "text");
    put("f", "text");
    const descriptor plain(::open(real("plain").c_str(), O_RDONLY));
    EXPECT_EQ(adopted(files(), plain).result(), -EBADF);
    const descriptor inside(::open((real("f") + "/halcyon-container").c_str(), O_RDONLY));
    EXPECT_EQ(adopted(files(), inside).result(), -EBADF);
    std::ofstream(real("halcyon-descriptor")) << "";
    const descriptor namesake(::open(real("halcyon-descriptor").c_str(), O_RDONLY));
    EXPECT_EQ(adopted(files(), namesake).result(), -EBADF);
    const descriptor null(::open("/dev/null", O_RDONLY));
    EXPECT_EQ(adopted(files(), null).result(), -EBADF);
    const descriptor folder(::open(real("").c_str(), O_RDONLY | O_DIRECTORY));
    EXPECT_EQ(adopted(files(), folder).result(), 0);
    const descriptor container(::open(real("f").c_str(), O_RDONLY | O_DIRECTORY));
    EXPECT_EQ(adopted(files(), container).result(), -EBADF);
}

/// As one is made where locks of directories hold on one node only.
TEST_F(log_descriptors, one_of_the_empty_file_is_known_and_bytes_written_to_it_end_in_errors) {
    put("f", "text");
    const descriptor fd(::open((real("f") + "/halcyon-descriptor").c_str(), O_WRONLY));
    ASSERT_GE(fd.get(), 0);
    EXPECT_EQ(adopted(files(), fd).result(), -EBADF);
    calls::backends::keep_access(fd.get(), O_RDWR);
    {
        adopted again(files(), fd);
        ASSERT_EQ(again.result(), 0);
        EXPECT_EQ(again.access(), O_RDWR);
        EXPECT_EQ(again.read(), "text");
    }
    ASSERT_EQ(::pwrite(fd.get(), "past", 4, 2), 4);
    EXPECT_EQ(content("f"), "errno 5");
    ASSERT_EQ(::ftruncate(fd.get(), 0), 0);
    EXPECT_EQ(content("f"), "text");
}

TEST_F(log_descriptors, a_program_that_inherits_one_writes_to_the_same_file) {
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    const descriptor fd(files(), file, O_RDWR);
    EXPECT_EQ(file.write("parent ", 0), 7);
    child_process child(files(), [&] {
        file_backend::handle own = 0;
        int access = 0;
        if (files().adopt_descriptor(fd.get(), fd.name().c_str(), own, access) != 0) return 1;
        const iovec piece{const_cast<char*>("child"), 5};
        return files().write(own, &piece, 1, 7) == 5 ? 0 : 2;
    });
    EXPECT_EQ(child.result(), 0);
    EXPECT_EQ(file.read(100, 0), "parent child");
}

TEST_F(log_descriptors, the_lowest_numbers_are_the_applications) {
    const int before = ::open("/dev/null", O_RDONLY);
    ::close(before);
    put("f", "text");
    opened_file file(files(), path("f"), O_RDWR);
    EXPECT_EQ(file.write("more", 4), 4);
    EXPECT_EQ(file.read(10, 0), "textmore");
    const int now = ::open("/dev/null", O_RDONLY);
    EXPECT_EQ(now, before);
    ::close(now);
    const int hidden = calls::hidden_descriptors::next(0);
    ASSERT_GE(hidden, 0);
    EXPECT_GT(hidden, 100);
    EXPECT_EQ(fcntl(hidden, F_GETFD), FD_CLOEXEC);
}

TEST_F(log_descriptors, a_lock_of_the_whole_file_goes_with_the_descriptor) {
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    opened_file other(files(), path("f"), O_RDWR);
    const descriptor first(files(), file, O_RDWR);
    const descriptor second(files(), other, O_RDWR);
    EXPECT_EQ(files().lock_whole(file.handle(), first.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(files().lock_whole(other.handle(), second.get(), LOCK_EX | LOCK_NB), -EWOULDBLOCK);
    child_process child(files(), [&] {
        // As the program flock does it for a shell: by a descriptor that it inherited.
        return files().lock_whole(file.handle(), first.get(), LOCK_UN) == 0 ? 0 : 1;
    });
    EXPECT_EQ(child.result(), 0);
    EXPECT_EQ(files().lock_whole(other.handle(), second.get(), LOCK_EX | LOCK_NB), 0);
}

}  // namespace
}  // namespace halcyon::logfs
