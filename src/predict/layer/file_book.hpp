#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "calls/record/layer.hpp"
#include "calls/state/patient_lock.hpp"
#include "predict/model/file_names.hpp"

namespace halcyon::predict {

/// The paths of the process' files, and their classes.
/// Whoever looks at paths holds `lock_`.
class file_book {
  public:
    explicit file_book(calls::memory_bound& memory) : names_(memory) {}
    ~file_book();
    file_book(const file_book&) = delete;
    file_book& operator=(const file_book&) = delete;

    /// A file was opened that has this number from now on.
    void name(const calls::named_file& file);
    /// Ended by 0; false, and "", when it is not known or does not fit. The newest some 50,000 files are.
    bool path_of(uint32_t file, char* out, size_t room);
    /// Of the file that this class goes on with, see file_names.
    bool next_path(uint32_t name_class, uint32_t ahead, char* out, size_t room);

    /// Who holds lock() may ask them anything; others only for class_of().
    [[nodiscard]] const file_names& names() const { return names_; }
    [[nodiscard]] calls::patient_lock& lock() { return lock_; }
    /// For one who fills it before anybody else has it.
    [[nodiscard]] file_names& own_names() { return names_; }
    /// Files whose path was not written down.
    [[nodiscard]] uint64_t unnamed() const { return unnamed_.load(std::memory_order_relaxed); }

  private:
    // Paths one after the other, round and round: what is older than a round is overwritten.
    static constexpr size_t text_bytes = size_t{4} << 20;
    static constexpr uint32_t most_files = 65536;
    struct place {
        uint64_t begin;  // bytes written before it, and 1
        uint32_t file;
        uint32_t length;
    };
    struct pages {
        place places[most_files];
        char text[text_bytes];
    };

    void keep(uint32_t file, std::string_view path);

    file_names names_;
    calls::patient_lock lock_;
    pages* pages_ = nullptr;
    uint64_t written_ = 0;
    std::atomic<uint64_t> unnamed_{0};
};

}  // namespace halcyon::predict
