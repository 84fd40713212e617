#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "calls/record/layer.hpp"
#include "calls/state/patient_lock.hpp"
#include "predict/model/file_names.hpp"

namespace halcyon::predict {

/// The classes of the process' files, for several threads.
class file_book {
  public:
    explicit file_book(calls::memory_bound& memory) : names_(memory) {}
    file_book(const file_book&) = delete;
    file_book& operator=(const file_book&) = delete;

    /// A file was opened that has this number from now on.
    void name(const calls::named_file& file);
    /// Of the file that this class goes on with, see file_names; ended by 0. False, and "", when it is not known or
    /// does not fit.
    bool next_path(uint32_t name_class, uint32_t ahead, char* out, size_t room);

    /// Who holds lock() may ask them anything; others only for class_of().
    [[nodiscard]] const file_names& names() const { return names_; }
    [[nodiscard]] calls::patient_lock& lock() { return lock_; }
    /// For one who fills it before anybody else has it.
    [[nodiscard]] file_names& own_names() { return names_; }
    /// Files that have no class.
    [[nodiscard]] uint64_t unnamed() const { return unnamed_.load(std::memory_order_relaxed); }

  private:
    file_names names_;
    calls::patient_lock lock_;
    std::atomic<uint64_t> unnamed_{0};
};

}  // namespace halcyon::predict
