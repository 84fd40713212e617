#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"

namespace halcyon::logfs {

/// The sums that writers left over their data droppings. What was summed is checked as a whole, once.
class data_checks {
  public:
    data_checks(file_calls& calls, memory_source& memory)
        : calls_(calls), checks_(memory), summed_(memory), buffer_(memory) {}

    /// Of the bytes that follow those of the dropping's last sum. False: no memory.
    [[nodiscard]] bool add(uint32_t dropping, int64_t bytes, uint32_t sum);
    /// Sums of the dropping were lost: nobody knows what the next ones are of. False: no memory.
    [[nodiscard]] bool stop(uint32_t dropping);

    enum class verdict : uint8_t { fits, damaged, no_memory, unreadable };
    struct finding {
        verdict what = verdict::fits;
        int64_t begin = 0;  ///< of what was summed
        int64_t end = 0;
        int error = 0;  ///< -errno
    };
    /// Of all sums over a part of [begin, end) of a data dropping.
    finding check(uint32_t dropping, int fd, int64_t begin, int64_t end);

    /// Grows a range by what was summed together with a part of it.
    void widen(uint32_t dropping, int64_t& begin, int64_t& end);

    /// Sums over all droppings; how many bytes of one are summed.
    [[nodiscard]] size_t size() const { return checks_.size(); }
    [[nodiscard]] int64_t summed(uint32_t dropping) const {
        return dropping < summed_.size() ? summed_[dropping].end : 0;
    }

  private:
    struct one {
        uint32_t dropping;
        uint32_t sum;
        int64_t begin;
        int64_t end;
        bool is_checked;
    };
    struct summed_part {
        int64_t end;
        bool is_all;  // no more sums are taken
    };

    void sort();
    [[nodiscard]] bool make_room_for(uint32_t dropping);
    one* first_behind(uint32_t dropping, int64_t begin);
    finding compare(const one& with, int fd);

    file_calls& calls_;
    page_array<one> checks_;
    page_array<summed_part> summed_;  // by dropping
    page_array<std::byte> buffer_;
    bool is_sorted_ = true;
};

}  // namespace halcyon::logfs
