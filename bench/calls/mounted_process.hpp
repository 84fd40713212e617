#pragma once

#include "bench/figure.hpp"
#include "bench/recorded_process.hpp"

namespace halcyon::bench {

/// False, and the figure is not met: the tests' files in memory are not built.
inline bool has_files_in_memory(const char* figure) {
    if (std::filesystem::exists(HALCYON_MEMORY_LIBRARY)) return true;
    unmet(figure, "the tests' in-memory backend is not built");
    return false;
}

/// Starts the program again with the tests' files in memory under a folder, if they are not there yet; the folder.
inline std::string become_mounted(char** arguments) {
    const std::string folder = std::filesystem::current_path().string() + "/mount";
    if (std::getenv("HALCYON_MEMORY_MOUNT") != nullptr) return folder;
    std::filesystem::create_directories(folder);
    setenv("HALCYON_MEMORY_MOUNT", folder.c_str(), 1);
    setenv("LD_PRELOAD", HALCYON_MEMORY_LIBRARY, 1);
    execv("/proc/self/exe", arguments);
    stop("cannot start again with the library preloaded");
}

}  // namespace halcyon::bench
