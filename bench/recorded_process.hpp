#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

namespace halcyon::bench {

[[noreturn]] inline void stop(const std::string& why) {
    std::fprintf(stderr, "error: %s\n", why.c_str());
    std::exit(1);
}

inline double clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}
inline double wall_ns() {
    return clock_ns(CLOCK_MONOTONIC);
}

/// Starts the program again with the library preloaded, its calls passing `layers`, if it has none yet. Returns the
/// folder for what they record.
inline std::string become_layered(char** arguments, const char* layers) {
    const std::string folder = std::filesystem::current_path().string() + "/trace";
    if (std::getenv("HALCYON_LAYERS") != nullptr) return folder;
    std::filesystem::create_directories(folder);
    setenv("HALCYON_LAYERS", layers, 1);
    setenv("HALCYON_TRACE_DIR", folder.c_str(), 1);
    setenv("LD_PRELOAD", HALCYON_IO_LIBRARY, 1);
    execv("/proc/self/exe", arguments);
    stop("cannot start again with the library preloaded");
}

/// Where this process' trace goes.
inline std::string become_recorded(char** arguments) {
    return become_layered(arguments, "trace");
}

/// The C library's own function, past the one that stands in front of it.
template <class Function>
Function* own_function_of_libc(const char* name) {
    void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void* found = libc == nullptr ? nullptr : dlsym(libc, name);
    if (found == nullptr) stop(std::string("no ") + name + " in libc.so.6");
    return reinterpret_cast<Function*>(found);
}

/// Bytes of all traces in `folder`.
inline double trace_bytes(const std::string& folder) {
    double sum = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".trace") sum += static_cast<double>(entry.file_size());
    }
    return sum;
}

/// The largest resident size of this process so far, in MiB.
inline double peak_resident_MiB() {
    std::ifstream status("/proc/self/status");
    std::string word;
    double kib = 0;
    while (status >> word) {
        if (word == "VmHWM:") status >> kib;
    }
    return kib / 1024;
}

}  // namespace halcyon::bench
