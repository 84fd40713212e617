#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/dropping.hpp"
#include "logfs/container/reading/hashed_numbers.hpp"
#include "logfs/container/reading/index_image.hpp"

namespace halcyon::logfs {

/// No clock and no time is in doubt by more, whatever a dropping says.
inline constexpr int64_t longest_doubt_ns = int64_t{1} << 60;

/// The writers of a container, by number and by the name of the index dropping (where PLFS wrote it, of the data
/// dropping), relative to the container.
class dropping_table {
  public:
    static constexpr uint32_t none = hashed_numbers::none;

    explicit dropping_table(memory_source& memory)
        : list_(memory), names_(memory), by_name_(memory), clocks_(memory), by_clock_(memory), epochs_(memory) {}

    /// A new one; none: there is no memory for it.
    uint32_t add(std::string_view name);
    [[nodiscard]] uint32_t find(std::string_view name) const;

    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(list_.size()); }
    dropping& operator[](uint32_t number) { return list_[number]; }
    const dropping& operator[](uint32_t number) const { return list_[number]; }
    /// Ended by 0.
    [[nodiscard]] const char* name_of(uint32_t number) const { return names_.data() + list_[number].name_at; }

    /// Of its data dropping.
    [[nodiscard]] short_name data_name_of(uint32_t number) const;

    /// Gives the dropping the number of its clock. False: no memory.
    [[nodiscard]] bool note_clock(dropping& of, std::string_view host, std::string_view boot_id);
    /// A group raised its epoch. False: no memory.
    [[nodiscard]] bool note_epoch(uint64_t group, int64_t time_ns);
    /// Before has_epoch_between().
    void settle_epochs();

    /// All but the epochs, and what is wrong with a dropping.
    void save(image_writer& to) const;
    /// Into an empty one. False: it makes no sense, or there is no memory; then some of it may be there.
    [[nodiscard]] bool load(image_reader& from);
    /// Forgets all droppings.
    void release();

    /// Which of two writes of the same time counts.
    [[nodiscard]] bool is_later_of_same_time(uint32_t a, uint32_t b) const;
    /// By how much times of the two may be wrong against each other.
    [[nodiscard]] int64_t clock_doubt_ns(uint32_t a, uint32_t b) const;
    /// An epoch was raised by the group of both between the two times.
    [[nodiscard]] bool has_epoch_between(uint32_t a, int64_t time_a, uint32_t b, int64_t time_b) const;

  private:
    struct epoch {
        uint64_t group;
        int64_t time_ns;

        friend bool operator==(const epoch&, const epoch&) = default;
        friend auto operator<=>(const epoch&, const epoch&) = default;
    };

    [[nodiscard]] bool note_clock_of(dropping& of, uint64_t hash);
    [[nodiscard]] size_t epochs_before(uint64_t group, int64_t time_ns) const;

    page_array<dropping> list_;
    page_array<char> names_;
    hashed_numbers by_name_;
    page_array<uint64_t> clocks_;  // hashes of host and boot
    hashed_numbers by_clock_;
    page_array<epoch> epochs_;
    size_t settled_epochs_ = 0;  // so many in front are in order, and none is there twice
};

}  // namespace halcyon::logfs
