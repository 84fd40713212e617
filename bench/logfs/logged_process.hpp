#pragma once

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench/recorded_process.hpp"

namespace halcyon::bench {

/// A folder in memory: files below `logs` are log containers to this process, those below `plain` are the kernel's.
struct logged_folder {
    std::string logs;
    std::string plain;
};

namespace logged {

inline std::string& whole() {
    static std::string folder;
    return folder;
}

/// Past the library, which does not let anybody remove the directory that it answers for.
inline void remove_folder(const std::string& path) {
    syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), AT_REMOVEDIR);
}

inline void remove_whole() {
    std::error_code ignored;
    std::filesystem::remove_all(whole() + "/plain", ignored);
    for (const auto& file : std::filesystem::directory_iterator(whole() + "/logs", ignored))
        std::filesystem::remove_all(file.path(), ignored);
    remove_folder(whole() + "/logs");
    remove_folder(whole());
}

}  // namespace logged

/// Whether what lies in /dev/shm lies in memory.
inline bool has_memory_files() {
    struct statfs found {};
    return statfs("/dev/shm", &found) == 0 && found.f_type == TMPFS_MAGIC;
}

/// Starts the program again with the library preloaded, if it is not; the folder goes when it ends.
inline logged_folder become_logged(char** arguments) {
    if (const char* const logs = std::getenv("HALCYON_LOG"); logs != nullptr) {
        logged::whole() = std::filesystem::path(logs).parent_path().string();
        std::atexit(logged::remove_whole);
        return {logs, logged::whole() + "/plain"};
    }
    std::string folder = "/dev/shm/halcyon-bench-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) stop("no folder in /dev/shm");
    std::filesystem::create_directories(folder + "/logs");
    std::filesystem::create_directories(folder + "/plain");
    setenv("HALCYON_LOG", (folder + "/logs").c_str(), 1);
    setenv("LD_PRELOAD", HALCYON_IO_LIBRARY, 1);
    execv("/proc/self/exe", arguments);
    std::filesystem::remove_all(folder);
    stop("cannot start again with the library preloaded");
}

/// Whether a file of this process is a log container, as the kernel has it: asked past the library.
inline bool is_container(const std::string& path) {
    return syscall(SYS_faccessat, AT_FDCWD, (path + "/halcyon-container").c_str(), F_OK) == 0;
}

}  // namespace halcyon::bench
