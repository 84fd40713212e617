// Plugins that do what no plugin should, as their options say:
//
//   do=NAME    one of the faults below
//   at=N,M…    in these iterations alone; without it in each
//   in=init    or finalize: there, in place of a run
//   until=FILE the fault waits for this file, a minute at most
//   random=P   in place of `at`: in a hundredth of P of the runs, by iteration and rank
//
// A run without a fault adds a line `name iteration rank blocks sum` (name: an option) to faulty.txt of the run's
// directory.

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "halcyon/action.h"

namespace {

std::string option(const halcyon_action_host* host, const char* name) {
    return halcyon_action_option(host, name, "");
}

bool is_listed(const std::string& list, int64_t number) {
    return ("," + list + ",").find("," + std::to_string(number) + ",") != std::string::npos;
}

int add_line(const halcyon_action_host* host, const std::string& line) {
    std::FILE* file = std::fopen((std::string(host->directory) + "/faulty.txt").c_str(), "a");
    if (file == nullptr) return 4;
    std::fprintf(file, "%s\n", line.c_str());
    return std::fclose(file) == 0 ? 0 : 5;
}

float* data_of(const halcyon_action_context* now) {
    if (now == nullptr || now->block_count == 0) throw std::runtime_error("there is no block to spoil");
    return static_cast<float*>(const_cast<void*>(now->blocks[0]->data));
}

/// The address space of 8 GiB, each page of which is written.
[[maybe_unused]] int take_memory() {
    std::vector<char*> taken;
    for (int i = 0; i < 512; ++i) {
        taken.push_back(new char[size_t{16} << 20]);
        std::memset(taken.back(), 1, size_t{16} << 20);
    }
    return taken.empty() ? 1 : 0;
}

void wait_for(const std::string& file) {
    for (int ms = 0; !file.empty() && ::access(file.c_str(), F_OK) != 0 && ms < 60'000; ++ms) ::usleep(1000);
}

int do_fault(const std::string& what, const halcyon_action_context* now) {
    if (what == "write") *data_of(now) = -1;
    if (what == "mprotect") {
        const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
        auto* at = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(data_of(now)) / page * page);
        if (::mprotect(at, page, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("mprotect is refused");
        *data_of(now) = -1;
    }
    if (what == "segv") *static_cast<volatile int*>(nullptr) = 1;
    if (what == "abort") std::abort();
    if (what == "exit") std::exit(3);
    if (what == "kill") ::raise(SIGKILL);
    if (what == "hang")
        for (;;) ::usleep(1000);
    if (what == "spin")
        for (volatile bool spins = true; spins;) {
        }
    if (what == "memory") return take_memory();
    if (what == "throw") throw std::runtime_error("thrown by a plugin");
    if (what == "status") return 17;
    if (what == "close") {
        ::close(3);  // its socket
        for (;;) ::usleep(1000);
    }
    return 0;
}

int init(const halcyon_action_host* host, void** state) {
    *state = const_cast<halcyon_action_host*>(host);
    if (option(host, "in") != "init") return 0;
    if (option(host, "do") == "say") return host->fail(host, "no data to start with");
    return do_fault(option(host, "do"), nullptr);
}

int run(void* state, const halcyon_action_context* now) {
    const auto* host = static_cast<const halcyon_action_host*>(state);
    const std::string at = option(host, "at"), random = option(host, "random");
    const auto mixed = static_cast<uint64_t>(now->iteration * 1000003 + now->rank + 1) * 0x9E3779B97F4A7C15u >> 32;
    const bool strikes = random.empty() ? at.empty() || is_listed(at, now->iteration)
                                        : mixed % 100 < std::strtoul(random.c_str(), nullptr, 10);
    if (strikes && option(host, "in").empty()) {
        wait_for(option(host, "until"));
        // Mostly such as leave the process: to start another one takes its time.
        const char* kinds[] = {"write", "throw", "status", "segv",     "mprotect", "status", "exit",  "throw",
                               "abort", "throw", "status", "mprotect", "kill",     "status", "throw", "close"};
        const std::string what = option(host, "do");
        if (const int status = do_fault(what == "any" ? kinds[mixed / 100 % 16] : what, now); status != 0)
            return status;
    }
    double sum = 0;
    for (size_t b = 0; b < now->block_count; ++b) {
        const halcyon_action_block* block = now->blocks[b];
        for (int64_t i = 0; i < block->bytes / 4; ++i) sum += static_cast<const float*>(block->data)[i];
    }
    char line[200];
    std::snprintf(line, sizeof line, " %ld %d %zu %.17g", static_cast<long>(now->iteration), now->rank,
                  now->block_count, sum);
    return add_line(host, option(host, "name") + line);
}

void finalize(void* state) {
    const auto* host = static_cast<const halcyon_action_host*>(state);
    if (option(host, "in") == "finalize") static_cast<void>(do_fault(option(host, "do"), nullptr));
    if (option(host, "in") == "end") add_line(host, "the end");
}

}  // namespace

HALCYON_PLUGIN(faulty, init, run, finalize);
