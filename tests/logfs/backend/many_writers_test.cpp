// A container with as many writers as a large run has, opened by a program that may have few files open.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "calls/backend_conformance/fixture.hpp"
#include "logfs/backend/log_backend.hpp"
#include "logfs/container/plain_file.hpp"
#include "logfs/container/writing/writer.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

constexpr int64_t writers = 10240;
constexpr int64_t pieces = 3;
constexpr int64_t piece_bytes = 16;

char letter_of(int64_t piece) {
    return static_cast<char>('a' + piece % writers % 26);
}

void make(const std::string& path) {
    container of;
    of.create(path, 0644).value();
    for (int64_t rank = 0; rank < writers; ++rank) {
        writer to(of);
        ASSERT_TRUE(to.open(tests::identity(rank, "node" + std::to_string(rank / 64))).ok());
        for (int64_t i = 0; i < pieces; ++i) {
            const int64_t piece = i * writers + rank;
            to.write(piece * piece_bytes, tests::as_bytes(std::string(piece_bytes, letter_of(piece)))).value();
        }
        ASSERT_TRUE(to.close().ok());
    }
}

int64_t peak_bytes() {
    std::ifstream status("/proc/self/status");
    std::string name;
    for (int64_t kib = 0; status >> name; status.ignore(1000, '\n'))
        if (name == "VmHWM:" && status >> kib) return kib << 10;
    return 0;
}

bool is_right(std::string_view text, int64_t begin) {
    for (size_t i = 0; i < text.size(); ++i)
        if (text[i] != letter_of((begin + static_cast<int64_t>(i)) / piece_bytes)) return false;
    return true;
}

/// What the program says: 0, or the line where it is not so.
int read_all(const std::string& folder) {
    const rlimit few{256, 256};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) return __LINE__;
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak is what it is now
    const int64_t before = peak_bytes();
    backend_settings how;
    how.host = "node1";
    start_backends(how);
    static log_backend files;
    if (before == 0 || files.start(folder.c_str()) != 0) return __LINE__;
    calls::opened_file file(files, "/file", O_RDWR);
    if (file.result() != 0) return __LINE__;
    const int64_t size = file.size();
    if (size != writers * pieces * piece_bytes) return __LINE__;
    for (int64_t at = 0; at < size; at += 8192) {
        const std::string text = file.read(8192, at);
        if (static_cast<int64_t>(text.size()) != std::min(size - at, int64_t{8192}) || !is_right(text, at))
            return __LINE__;
    }
    if (file.write("A", 0) != 1 || file.read(2, 0) != "Aa") return __LINE__;
    return peak_bytes() - before <= int64_t{200} << 20 ? 0 : __LINE__;
}

TEST(many_writers, are_opened_with_few_descriptors_and_little_memory) {
    const halcyon::tests::memory_folder folder;
    ASSERT_NO_FATAL_FAILURE(make(folder.file("file")));
    const pid_t child = fork();
    if (child == 0) _exit(std::min(read_all(folder.path()), 255));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 0) << "line";
}

}  // namespace
}  // namespace halcyon::logfs
