#pragma once

#include <cstdint>

#include "calls/memory_backend/space.hpp"

namespace halcyon::calls::in_memory {

/// The processes that share a space. Each has a slot, and a lock of the kernel's on a byte that stands for the slot:
/// the kernel keeps it over exec, leaves it out of a forked child, and drops it when the process ends, however it does.
class job_processes {
  public:
    constexpr job_processes() = default;

    static constexpr int none = -1;

    void start(space& of, int memory);
    /// In a forked child, which has a slot of its own from now on.
    void after_fork();

    /// Of the process that runs this, which may be a child of vfork; none: all are taken.
    [[nodiscard]] int slot();
    /// False in a child of vfork, and in one of fork before after_fork().
    [[nodiscard]] bool is_own() const;
    [[nodiscard]] bool is_alive(int slot, int own) const;

  private:
    [[nodiscard]] bool take(int slot) const;
    [[nodiscard]] int find_or_take(int process);

    space* space_ = nullptr;
    int memory_ = -1;
    int process_ = 0;
    int slot_ = none;
};

}  // namespace halcyon::calls::in_memory
