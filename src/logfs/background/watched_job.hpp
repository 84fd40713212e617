#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon::logfs {

/// Those whose containers an agent works on: it stays for as long as they run.
class watched_job {
  public:
    watched_job() = default;
    watched_job(const watched_job&) = delete;
    watched_job& operator=(const watched_job&) = delete;
    virtual ~watched_job() = default;

    /// They have ended. Others may still come.
    [[nodiscard]] virtual bool has_ended() = 0;
    /// Waits for their end, `longest_ns` at most. Whether they have ended; where they had before, the time is waited
    /// for all the same.
    virtual bool wait(int64_t longest_ns) = 0;
    /// The agent ends: whoever comes from now on starts another one. False: somebody has come. True: let_come() undoes
    /// it.
    virtual bool keep_others_out() { return has_ended(); }
    virtual void let_come() {}
};

/// One process, that which started the agent; 0: none.
class watched_process final : public watched_job {
  public:
    explicit watched_process(pid_t pid);
    [[nodiscard]] bool has_ended() override;
    bool wait(int64_t longest_ns) override;

  private:
    descriptor process_;
};

/// Processes of this node that have a shared lock of byte 1 of a file for as long as they run; the one agent that works
/// for them has byte 0.
class watched_users final : public watched_job {
  public:
    /// Failure (unavailable, EBUSY): another agent works for them; system.
    static result<void> take(watched_users& made, const std::string& file);

    [[nodiscard]] bool has_ended() override;
    bool wait(int64_t longest_ns) override;
    bool keep_others_out() override;
    void let_come() override;

  private:
    descriptor file_;
};

/// Of the file of watched_users.
inline constexpr int64_t place_of_agent = 0;
inline constexpr int64_t place_of_users = 1;

}  // namespace halcyon::logfs
