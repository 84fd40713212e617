#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "logfs/container/files/file_systems.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs::tests {

/// As a host sees a file system that others change, and that keeps what it has read: each file as it was when it was
/// looked at first, or refreshed last. Nothing is written through these calls.
class late_files : public watched_files {
  public:
    int refreshed = 0;

    late_files() { type = fuse_magic; }

    /// What this host keeps of a file by now.
    void keep(const std::string& path) {
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat now {};
        if (watched_files::status(fd, now) == 0) keep(fd, now);
        ::close(fd);
    }

    int64_t read_at(int fd, const iovec* parts, int count, int64_t offset) override {
        const one& of = kept(fd);
        int64_t done = 0;
        for (int i = 0; i < count; ++i) {
            const auto begin = std::min<size_t>(static_cast<size_t>(offset + done), of.contents.size());
            const size_t bytes = std::min(parts[i].iov_len, of.contents.size() - begin);
            if (bytes > 0) std::memcpy(parts[i].iov_base, of.contents.data() + begin, bytes);
            done += static_cast<int64_t>(bytes);
        }
        return done;
    }
    int status(int fd, struct stat& out) override {
        if (const int done = watched_files::status(fd, out); done != 0) return done;
        return late(fd, out);
    }
    int status_at(int directory, const char* name, struct stat& out) override {
        if (const int done = watched_files::status_at(directory, name, out); done != 0) return done;
        const int fd = ::openat(directory, name, O_RDONLY | O_CLOEXEC);
        if (fd < 0) return 0;
        late(fd, out);
        ::close(fd);
        return 0;
    }
    int refresh(int fd) override {
        struct stat now {};
        const int done = watched_files::status(fd, now);
        if (done == 0) keep(fd, now);
        ++refreshed;
        return done;
    }
    int status_now_at(int directory, const char* name, struct stat& out) override {
        const int fd = ::openat(directory, name, O_RDONLY | O_CLOEXEC);
        if (fd < 0) return -errno;
        int done = refresh(fd);
        if (done == 0) done = status(fd, out);
        ::close(fd);
        return done;
    }

  private:
    struct one {
        struct stat status {};
        std::vector<char> contents;
    };

    one& keep(int fd, const struct stat& now) {
        one& of = kept_[now.st_ino];
        of.status = now;
        of.contents.resize(S_ISREG(now.st_mode) ? static_cast<size_t>(now.st_size) : 0);
        const auto read = ::pread(fd, of.contents.data(), of.contents.size(), 0);
        of.contents.resize(static_cast<size_t>(std::max<ssize_t>(read, 0)));
        return of;
    }
    one& kept(int fd) {
        struct stat now {};
        watched_files::status(fd, now);
        const auto found = kept_.find(now.st_ino);
        return found != kept_.end() ? found->second : keep(fd, now);
    }
    int late(int fd, struct stat& out) {
        out = kept(fd).status;
        return 0;
    }

    std::map<ino_t, one> kept_;
};

}  // namespace halcyon::logfs::tests
