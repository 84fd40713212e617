#include "insitu/worker/crash_report.hpp"

#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace halcyon::insitu {
namespace {

constexpr size_t stack_bytes = size_t{64} << 10;
constexpr int most_calls = 64;

std::array<char, stack_bytes> handler_stack;  ///< its own may be full
std::array<char, 256> crashed;

void say_and_crash(int signal, siginfo_t* about, void* /*context*/) {
    std::array<char, 400> line{};
    const int length =
        std::snprintf(line.data(), line.size(), "%s (process %d): signal %d at address %p, after these calls:\n",
                      crashed.data(), ::getpid(), signal, about->si_addr);
    static_cast<void>(!::write(STDERR_FILENO, line.data(), static_cast<size_t>(length)));
    std::array<void*, most_calls> calls{};
    ::backtrace_symbols_fd(calls.data(), ::backtrace(calls.data(), most_calls), STDERR_FILENO);
    ::raise(signal);  // by now it does what it does without this
}

}  // namespace

void report_crashes(const std::string& name) {
    std::snprintf(crashed.data(), crashed.size(), "%s", name.c_str());
    // The first call loads a library, which a process that crashes could not.
    std::array<void*, 1> here{};
    static_cast<void>(::backtrace(here.data(), 1));
    stack_t own{};
    own.ss_sp = handler_stack.data();
    own.ss_size = handler_stack.size();
    if (::sigaltstack(&own, nullptr) != 0) return;
    struct sigaction how {};
    how.sa_sigaction = say_and_crash;
    how.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &how, nullptr);
}

}  // namespace halcyon::insitu
