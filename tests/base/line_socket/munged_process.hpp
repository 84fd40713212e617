#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "base/line_socket/child_process.hpp"
#include "base/munge.hpp"
#include "temporary_folder.hpp"

namespace halcyon::tests {

/// munged with a key of its own, until it is destroyed.
class munged_process {
  public:
    explicit munged_process(uint32_t key_seed) {
        std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
        write_key(key_seed);
        process_ = std::make_unique<child_process>([this] { return run(); });
    }
    [[nodiscard]] std::string socket() const { return folder_.file("socket"); }
    /// False: there is no munged or no libmunge here, or it does not start.
    [[nodiscard]] bool is_ready() const {
        const auto authority = munge::load(socket());
        if (!authority) return false;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (std::chrono::steady_clock::now() < deadline) {
            if (::access(socket().c_str(), F_OK) == 0 && authority->encode("ready").ok()) return true;
            if (::kill(process_->pid(), 0) != 0 || ended()) return false;
            std::this_thread::yield();
        }
        return false;
    }
    /// Its socket stays. Not by SIGTERM, which munged misses right before accept(): it goes on until somebody connects.
    void kill() { process_->kill(SIGKILL); }

  private:
    void write_key(uint32_t seed) const {
        std::mt19937 random(seed);
        std::string key(1024, '\0');
        for (char& c : key) c = static_cast<char>(random());
        std::ofstream(folder_.file("key"), std::ios::binary) << key;
        ::chmod(folder_.file("key").c_str(), 0600);
    }
    [[nodiscard]] bool ended() const {
        siginfo_t state{};
        return ::waitid(P_PID, static_cast<id_t>(process_->pid()), &state, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               state.si_pid != 0;
    }
    [[nodiscard]] int run() const {
        const int silent = ::open("/dev/null", O_RDWR);
        ::dup2(silent, 1);
        ::dup2(silent, 2);
        const std::string socket_option = "--socket=" + socket(), key = "--key-file=" + folder_.file("key"),
                          pid = "--pid-file=" + folder_.file("pid"), log = "--log-file=" + folder_.file("log"),
                          seed = "--seed-file=" + folder_.file("seed");
        ::execlp("munged", "munged", "--foreground", "--force", socket_option.c_str(), key.c_str(), pid.c_str(),
                 log.c_str(), seed.c_str(), nullptr);
        ::execl("/usr/sbin/munged", "munged", "--foreground", "--force", socket_option.c_str(), key.c_str(),
                pid.c_str(), log.c_str(), seed.c_str(), nullptr);
        return 127;
    }

    temporary_folder folder_;
    std::unique_ptr<child_process> process_;
};

}  // namespace halcyon::tests
