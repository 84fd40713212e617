// Under the library, below --log: `program work FOLDER COUNTER` makes all steps, and counts those that have returned in
// the shared memory that descriptor COUNTER is of. `program write FOLDER COUNTER` makes the first few, and says by
// SIGUSR1 when its log has begun and when it has made them. `program go-on FOLDER`: what comes after a killed one
// reads, appends, moves and removes all files. Exit code: 0, or the line of what failed.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "steps.hpp"

namespace {

using namespace halcyon::logfs::tests;

void need(bool condition, int line = __builtin_LINE()) {
    if (condition) return;
    std::perror(("line " + std::to_string(line)).c_str());
    std::_Exit(line % 250 + 1);
}

void make(size_t number, const std::string& folder, int (&open_files)[slots]) {
    const step& now = all_steps[number];
    int& fd = open_files[now.slot];
    const auto path = [&](const char* name) { return folder + "/" + name; };
    const std::string data = data_of(number, now.length);
    switch (now.what) {
        case step::kind::open:
            fd = open(path(now.name).c_str(), now.flags, 0644);
            need(fd >= 0);
            break;
        case step::kind::write:
            need(pwrite(fd, data.data(), data.size(), now.offset) == now.length);
            break;
        case step::kind::append:
            need(write(fd, data.data(), data.size()) == now.length);
            break;
        case step::kind::cut:
            need(ftruncate(fd, now.offset) == 0);
            break;
        case step::kind::sync:
            need(fsync(fd) == 0);
            break;
        case step::kind::close:
            need(close(fd) == 0);
            break;
        case step::kind::rename:
            need(rename(path(now.name).c_str(), path(now.to).c_str()) == 0);
            break;
        case step::kind::remove:
            need(unlink(path(now.name).c_str()) == 0);
            break;
    }
}

std::atomic<uint32_t>& counter_at(int fd) {
    void* const shared = mmap(nullptr, sizeof(std::atomic<uint32_t>), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    need(shared != MAP_FAILED);
    return *static_cast<std::atomic<uint32_t>*>(shared);
}

void work(const std::string& folder, std::atomic<uint32_t>& returned) {
    int open_files[slots] = {-1, -1};
    for (size_t number = 0; number < step_count; ++number) {
        make(number, folder, open_files);
        returned.store(static_cast<uint32_t>(number) + 1);
    }
}

/// All that change the first file, from the second write on.
void write_between_signals(const std::string& folder, std::atomic<uint32_t>& returned) {
    int open_files[slots] = {-1, -1};
    for (size_t number = 0; number < steps_of_one_file; ++number) {
        if (number == steps_before_stores) raise(SIGUSR1);
        make(number, folder, open_files);
        returned.store(static_cast<uint32_t>(number) + 1);
    }
    raise(SIGUSR1);
}

std::vector<std::string> names_in(const std::string& folder) {
    DIR* const directory = opendir(folder.c_str());
    need(directory != nullptr);
    std::vector<std::string> names;
    for (const dirent* each = readdir(directory); each != nullptr; each = readdir(directory))
        if (const std::string_view name = each->d_name; name != "." && name != "..") names.emplace_back(name);
    closedir(directory);
    return names;
}

std::string text_of(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY);
    struct stat now {};
    need(fd >= 0 && fstat(fd, &now) == 0);
    std::string text(static_cast<size_t>(now.st_size) + 1, '\0');
    need(read(fd, text.data(), text.size()) == now.st_size);
    close(fd);
    text.pop_back();
    return text;
}

void append(const std::string& path, std::string_view text, int flags = 0) {
    const int fd = open(path.c_str(), O_WRONLY | O_APPEND | flags, 0644);
    need(fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && close(fd) == 0);
}

void go_on(const std::string& folder) {
    for (const std::string& name : names_in(folder)) {
        const std::string path = folder + "/" + name;
        const std::string before = text_of(path);
        append(path, "next");
        need(text_of(path) == before + "next");
        const std::string moved = folder + "/away";
        need(rename(path.c_str(), moved.c_str()) == 0);
        need(text_of(moved) == before + "next");
        need(unlink(moved.c_str()) == 0);
    }
    for (const char* const name : {"f", "g"}) {
        append(folder + "/" + name, "new", O_CREAT | O_EXCL);
        need(unlink((folder + "/" + name).c_str()) == 0);
    }
    need(names_in(folder).empty());
    need(rmdir(folder.c_str()) == 0);
}

}  // namespace

int main(int count, char** words) {
    need(count >= 3);
    const std::string_view what = words[1];
    if (what == "work" && count == 4)
        work(words[2], counter_at(std::atoi(words[3])));
    else if (what == "write" && count == 4)
        write_between_signals(words[2], counter_at(std::atoi(words[3])));
    else if (what == "go-on")
        go_on(words[2]);
    else
        need(false);
    return 0;
}
