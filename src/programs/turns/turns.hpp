#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "coordinate/client/known_accesses.hpp"
#include "coordinate/client/program_turn.hpp"
#include "halcyon/io.h"

/// One handle of io.h: the turns of this process at one file system. Those that nobody coordinates never wait.
struct halcyon_io_turns {
  public:
    /// Failure: as halcyon_io_init(). Where nobody coordinates, why() is not empty.
    static halcyon::result<halcyon_io_turns*> open(const std::string& config, const std::string& path);

    [[nodiscard]] const std::string& why() const { return why_; }

    /// What there is to be said of it, although it went well; "": nothing.
    halcyon::result<std::string> prepare(const halcyon_io_info& info);
    halcyon::result<void> complete();
    void inform();
    halcyon::result<bool> check();
    /// Failure (unavailable): it was interrupted, before the turn came.
    halcyon::result<void> wait(halcyon::coordinate::interruption by);
    halcyon::result<void> join(halcyon::coordinate::interruption by);
    halcyon::result<void> release();
    [[nodiscard]] halcyon_io_status_t status() const;
    void close();

    // For io.h's functions: which process opened it, and whether it is open and in use. Never freed, so that a copy of
    // a handle that was closed can be told.
    std::atomic<bool> is_open{true};
    std::atomic<bool> is_used{false};
    uint32_t forks_before = 0;

  private:
    using stage = halcyon::coordinate::program_turn::stage;

    [[nodiscard]] stage at() const { return slot_ == nullptr ? stage_alone_ : turn_.at(); }
    [[nodiscard]] halcyon::result<void> asked(const char* call) const;
    [[nodiscard]] int64_t moved() const;
    [[nodiscard]] int64_t unasked() const;
    [[nodiscard]] double since_begin_s() const;
    void describe_turn(halcyon_io_status_t& into) const;

    halcyon::coordinate::page* shared_ = nullptr;
    halcyon::coordinate::process_slot* slot_ = nullptr;  ///< null: nobody coordinates
    size_t file_system_ = 0;
    halcyon::coordinate::program_turn turn_;
    halcyon::coordinate::known_accesses known_;
    stage stage_alone_ = stage::idle;
    std::string why_;
    int64_t begun_ns_ = 0;      ///< the phase
    uint32_t told_before_ = 0;  ///< shared_file_system::told at the announcement
    int64_t moved_before_ = 0, unasked_before_ = 0;
};
