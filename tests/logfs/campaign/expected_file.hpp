#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace halcyon::logfs::campaign {

/// One change of a file. Its bytes follow from its seed, so that another process can tell whether it was made.
struct change {
    enum class kind : uint8_t { write, append, erase, truncate, reach };

    kind what = kind::write;
    int64_t offset = 0;  ///< of `truncate` and `reach`: the size
    int64_t length = 0;
    uint64_t seed = 0;

    [[nodiscard]] int64_t end() const { return offset + length; }
    [[nodiscard]] bool has_bytes() const { return what == kind::write || what == kind::append; }
    [[nodiscard]] bool is_of_size() const { return what == kind::truncate || what == kind::reach; }
};

/// What is written; `out` has the change's length. No zeros: these are what holes read as.
inline void fill(const change& of, std::span<std::byte> out) {
    uint64_t state = of.seed;
    uint64_t word = 0;
    for (size_t i = 0; i < out.size(); ++i, word >>= 8) {
        if (i % 8 == 0) {  // splitmix64 (Steele, Lea, Flood, OOPSLA 2014)
            word = (state += 0x9e3779b97f4a7c15);
            word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
            word = (word ^ word >> 27) * 0x94d049bb133111eb;
            word ^= word >> 31;
        }
        out[i] = static_cast<std::byte>((word & 0xff) | 1);
    }
}

/// What a file is to hold, in memory that the processes of a campaign share. Behind its end all is zero.
///
/// Who changes a place has it for himself: it is in his part of the file, or he has the file's lock. Besides, the file
/// knows of each place all values that a reader may see there in this turn, whoever writes: one bit for each.
class expected_file {
  public:
    static constexpr int64_t room = int64_t{3} << 16;
    static constexpr int64_t longest = 8192;  ///< that is written at a time

    [[nodiscard]] int64_t size() const { return size_.load(std::memory_order_acquire); }
    [[nodiscard]] std::span<const std::byte> bytes() const { return {bytes_, static_cast<size_t>(room)}; }
    [[nodiscard]] std::span<const std::byte> bytes(int64_t offset, int64_t length) const {
        return bytes().subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
    }

    /// Its outcome may be seen from now on.
    void announce(const change& what) {
        if (what.has_bytes()) {
            std::byte data[longest];
            fill(what, {data, static_cast<size_t>(what.length)});
            for (int64_t i = 0; i < what.length; ++i) allow(what.offset + i, data[i]);
        } else if (what.what != change::kind::reach) {
            const int64_t end = what.what == change::kind::truncate ? room : what.end();
            for (int64_t i = what.offset; i < end; ++i) allow(i, std::byte{0});
        }
    }
    [[nodiscard]] bool allows(int64_t offset, std::byte value) const {
        const auto bit = static_cast<unsigned>(value);
        return (seen_[offset][bit / 64].load(std::memory_order_relaxed) >> bit % 64 & 1) != 0;
    }
    /// Only what is there now may be seen: all have published, and whoever reads looks anew.
    void end_turn() {
        for (int64_t i = 0; i < room; ++i) {
            for (auto& word : seen_[i]) word.store(0, std::memory_order_relaxed);
            allow(i, bytes_[i]);
        }
    }

    /// It was made. Again, after a process was killed in the middle: the same.
    void apply(const change& what) {
        switch (what.what) {
            case change::kind::write:
            case change::kind::append:
                fill(what, {bytes_ + what.offset, static_cast<size_t>(what.length)});
                grow(what.end());
                break;
            case change::kind::erase:
                std::memset(bytes_ + what.offset, 0, static_cast<size_t>(what.length));
                break;
            case change::kind::truncate:
                std::memset(bytes_ + what.offset, 0, static_cast<size_t>(room - what.offset));
                size_ = what.offset;
                break;
            case change::kind::reach:
                grow(what.offset);
        }
    }

  private:
    void allow(int64_t offset, std::byte value) {
        const auto bit = static_cast<unsigned>(value);
        auto& word = seen_[offset][bit / 64];
        word.store(word.load(std::memory_order_relaxed) | uint64_t{1} << bit % 64, std::memory_order_relaxed);
    }
    void grow(int64_t end) {
        for (int64_t now = size_; now < end && !size_.compare_exchange_weak(now, end);) {
        }
    }

    std::atomic<int64_t> size_{0};
    std::byte bytes_[room] = {};
    std::atomic<uint64_t> seen_[room][4] = {};
};

}  // namespace halcyon::logfs::campaign
