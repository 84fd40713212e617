#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "calls/backends/file_backend.hpp"

namespace halcyon::calls {

/// A backend, and what of it the cases may ask for.
struct backend_offer {
    std::string name;
    /// The one of this process; the same each time. Each case has a directory of its own in it.
    std::function<file_backend&()> backend;
    /// What a new program needs to know before it asks for the backend of the job: it finds this in the environment, as
    /// `handed_over`. Null: programs that are started cannot reach it.
    std::function<std::string()> hand_over = nullptr;
    /// One with room for a few MiB. Null: it cannot be made to fill up.
    std::function<file_backend&()> small = nullptr;
    bool locks = true;        ///< of fcntl
    bool whole_locks = true;  ///< of flock
    bool maps = true;
    bool links = true;  ///< hard and symbolic
};

inline void PrintTo(const backend_offer& offer, std::ostream* out) {
    *out << offer.name;
}

inline constexpr const char* handed_over = "HALCYON_TEST_BACKEND";

inline std::string name_of_offer(const ::testing::TestParamInfo<backend_offer>& info) {
    return info.param.name;
}

/// An open file, closed with it.
class opened_file {
  public:
    opened_file(file_backend& of, const std::string& path, int flags, unsigned mode = 0644)
        : backend_(of), result_(of.open(path.c_str(), flags, mode, handle_)) {}
    opened_file(file_backend& of, uint64_t key) : backend_(of), result_(of.adopt(key, handle_)) {}
    ~opened_file() { close(); }
    opened_file(const opened_file&) = delete;
    opened_file& operator=(const opened_file&) = delete;

    /// 0, or why it could not be opened.
    [[nodiscard]] int result() const { return result_; }
    [[nodiscard]] file_backend::handle handle() const { return handle_; }
    void close() {
        if (result_ == 0) backend_.close(handle_);
        result_ = -EBADF;
    }

    ssize_t write(const std::string& text, int64_t offset) {
        const iovec piece{const_cast<char*>(text.data()), text.size()};
        return backend_.write(handle_, &piece, 1, offset);
    }
    ssize_t append(const std::string& text, int64_t& offset) {
        const iovec piece{const_cast<char*>(text.data()), text.size()};
        return backend_.append(handle_, &piece, 1, offset);
    }
    std::string read(size_t bytes, int64_t offset) {
        std::string text(bytes, '?');
        const iovec piece{text.data(), bytes};
        const ssize_t got = backend_.read(handle_, &piece, 1, offset);
        if (got < 0) return "errno " + std::to_string(-got);
        text.resize(static_cast<size_t>(got));
        return text;
    }
    struct stat stat() {
        struct stat out {};
        EXPECT_EQ(backend_.stat(handle_, out), 0);
        return out;
    }
    [[nodiscard]] int64_t size() { return stat().st_size; }
    std::string path() {
        char text[4096] = {};
        const ssize_t length = backend_.path_of(handle_, text, sizeof text);
        if (length < 0) return "errno " + std::to_string(-length);
        EXPECT_EQ(static_cast<size_t>(length), std::string(text).size());
        return text;
    }
    /// Names in it and their inodes, in the order in which they are listed.
    std::vector<std::pair<std::string, uint64_t>> entries() {
        std::vector<std::pair<std::string, uint64_t>> list;
        file_backend::entry next{};
        uint64_t after = 0;
        int result = 0;
        while ((result = backend_.next_entry(handle_, after, next)) == 1 && list.size() < 100'000)
            list.emplace_back(next.name, next.inode);
        EXPECT_EQ(result, 0);
        return list;
    }

  private:
    file_backend& backend_;
    file_backend::handle handle_ = 0;
    int result_;
};

class backend_conformance : public ::testing::TestWithParam<backend_offer> {
  protected:
    void SetUp() override {
        const char* const test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
        folder_ = "/" + std::string(test).substr(0, std::string(test).find('/'));
        const int made = backend().make_directory(folder_.c_str(), 0755);
        ASSERT_TRUE(made == 0 || made == -EEXIST) << made;
    }

    [[nodiscard]] file_backend& backend() const { return GetParam().backend(); }
    /// A path in the case's own directory, which is "" here.
    [[nodiscard]] std::string path(const std::string& name) const {
        return name.empty() ? folder_ : folder_ + "/" + name;
    }

    int make_directory(const std::string& name) { return backend().make_directory(path(name).c_str(), 0755); }
    int remove_directory(const std::string& name) { return backend().remove_directory(path(name).c_str()); }
    int unlink(const std::string& name) { return backend().unlink(path(name).c_str()); }
    int rename(const std::string& from, const std::string& to, unsigned flags = 0) {
        return backend().rename(path(from).c_str(), path(to).c_str(), flags);
    }
    int link(const std::string& from, const std::string& to) {
        return backend().link(path(from).c_str(), path(to).c_str());
    }
    int symbolic_link(const std::string& target, const std::string& name) {
        return backend().make_symbolic_link(target.c_str(), path(name).c_str());
    }
    struct stat stat(const std::string& name, bool follow = true) {
        struct stat out {};
        EXPECT_EQ(backend().stat_path(path(name).c_str(), follow, out), 0) << name;
        return out;
    }
    int stat_error(const std::string& name, bool follow = true) {
        struct stat out {};
        return backend().stat_path(path(name).c_str(), follow, out);
    }
    [[nodiscard]] bool is_there(const std::string& name) { return stat_error(name, false) == 0; }
    /// 0, or why not.
    int open_error(const std::string& name, int flags) { return opened_file(backend(), path(name), flags).result(); }
    void put(const std::string& name, const std::string& text) {
        opened_file file(backend(), path(name), O_CREAT | O_WRONLY | O_TRUNC);
        ASSERT_EQ(file.result(), 0) << name;
        ASSERT_EQ(file.write(text, 0), static_cast<ssize_t>(text.size()));
    }
    std::string content(const std::string& name) {
        opened_file file(backend(), path(name), O_RDONLY);
        if (file.result() != 0) return "errno " + std::to_string(-file.result());
        return file.read(static_cast<size_t>(file.size()), 0);
    }
    /// Without "." and "..", sorted.
    std::vector<std::string> listed(const std::string& name) {
        opened_file directory(backend(), path(name), O_RDONLY | O_DIRECTORY);
        EXPECT_EQ(directory.result(), 0);
        std::vector<std::string> list;
        for (const auto& [text, inode] : directory.entries())
            if (text != "." && text != "..") list.push_back(text);
        std::sort(list.begin(), list.end());
        return list;
    }

  private:
    std::string folder_;
};

/// A forked process; what it runs says 0 when all is well, the line where it is not.
class child_process {
  public:
    template <class Body>
    child_process(file_backend& backend, Body body) : process_((backend.before_fork(), backend.keep_still(), fork())) {
        if (process_ != 0) {
            backend.go_on();
            return;
        }
        backend.after_fork();
        _exit(body());
    }
    ~child_process() {
        if (process_ > 0) result();
    }
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    [[nodiscard]] pid_t number() const { return process_; }
    void kill() const { ::kill(process_, SIGKILL); }
    /// What it said, or minus the signal that ended it.
    int result() {
        int status = 0;
        waitpid(process_, &status, 0);
        process_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

  private:
    pid_t process_;
};

/// Bytes through which processes wait for each other.
class signpost {
  public:
    signpost() { EXPECT_EQ(pipe(ends_), 0); }
    ~signpost() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    signpost(const signpost&) = delete;
    signpost& operator=(const signpost&) = delete;

    void set() const { static_cast<void>(!::write(ends_[1], "x", 1)); }
    void wait() const {
        char byte = 0;
        static_cast<void>(!::read(ends_[0], &byte, 1));
    }

  private:
    int ends_[2] = {-1, -1};
};

}  // namespace halcyon::calls
