#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "calls/memory/growing_array.hpp"
#include "predict/grammar/index_table.hpp"

namespace halcyon::predict {

/// Patterns of the names of a process' files, and how their numbers go on: `out.000041`, `out.000042` are of one class,
/// `out.%06d`, and the next one is `out.000043`. A folder or file whose whole name is a decimal number goes on as such
/// (times, `0.995`, `1`, `1.005`). A class is known by the last part of the path, so that a learnt model is of use in
/// another folder. Paths longer than `longest_path` have no class and no name here.
///
/// For several threads: whoever calls holds the lock of those who share it, but for class_of, which may be asked at any
/// time: it reads one word that is there from the beginning. Class 0: not known.
class file_names {
  public:
    static constexpr uint32_t unknown = 0;
    static constexpr size_t longest_path = 512;
    static constexpr size_t longest_pattern = 96;
    static constexpr uint32_t most_numbers = 6;  ///< of a path; with more of them the last ones

    explicit file_names(calls::memory_bound& memory) : memory_(memory), classes_(memory), found_(memory) {}
    ~file_names();
    file_names(const file_names&) = delete;
    file_names& operator=(const file_names&) = delete;

    /// The file has this path from now on; returns its class. Counts as the next one of its class.
    uint32_t name(uint32_t file, std::string_view path);
    [[nodiscard]] uint32_t class_of(uint32_t file) const {
        const page* const of = pages_[file / page_files % most_pages].load(std::memory_order_acquire);
        return of == nullptr ? static_cast<uint32_t>(unknown)
                             : (*of)[file % page_files].load(std::memory_order_relaxed);
    }
    [[nodiscard]] uint32_t classes() const { return classes_.size(); }
    /// `out.%06d`; numbers that are not padded are `%d`, decimal ones `%g`, those that were always the same stand
    /// there.
    [[nodiscard]] std::string_view pattern_of(uint32_t name_class, std::array<char, longest_pattern>& out) const;
    /// The path that a new file of this class would have, `ahead` files after the last one; "": not known. Each number
    /// goes on by what it last grew by. Of a class that was adopted: when a file of it was named here.
    [[nodiscard]] std::string_view next_path(uint32_t name_class, uint32_t ahead,
                                             std::array<char, longest_path>& out) const;

    /// The path of the last file of a class, and the step of each of its numbers, in units of so many places behind the
    /// point: what archives keep.
    struct last_of_class {
        std::string_view path;
        std::array<int64_t, most_numbers> steps = {};
        std::array<uint8_t, most_numbers> places = {};
    };
    [[nodiscard]] last_of_class last_of(uint32_t name_class) const;
    /// Makes the class of such a file known, if it is not; returns it, `unknown` when there is no room.
    uint32_t adopt(const last_of_class& last);

  private:
    // As many files as known_files has ids at a time.
    static constexpr uint32_t page_files = 1024;
    static constexpr uint32_t most_pages = 64;
    using page = std::array<std::atomic<uint32_t>, page_files>;
    struct number {
        int64_t value = 0;  // in units of 10 to the power of -places
        int64_t step = 0;
        uint8_t places = 0;        // behind the point
        bool keeps_zeros = false;  // at its end, behind the point
        uint8_t width = 0;         // of zero-padded ones; 0: as wide as it is
        bool varied = false;
    };
    struct name_class {
        uint64_t key;
        number numbers[most_numbers];
        uint32_t number_count;
        bool of_earlier_run;  // no file of this run has been named yet: steps are known, values are not
        uint16_t last_part;   // where the last part of the path begins
        uint16_t length;
        char path[longest_path];  // of the last file
    };
    struct reading;
    static bool same_unit(number& one, number& other);
    static size_t write(const number& known, uint32_t ahead, std::span<char> out);

    [[nodiscard]] uint32_t learn(std::string_view path);

    calls::memory_bound& memory_;
    calls::growing_array<name_class> classes_;
    index_table found_;
    std::array<std::atomic<page*>, most_pages> pages_ = {};  // class of each file; made when one of its files is named
};

}  // namespace halcyon::predict
