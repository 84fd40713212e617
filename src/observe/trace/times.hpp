#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "calls/record/call_record.hpp"
#include "observe/trace/columns.hpp"

/// Times as floating-point numbers of few bits, and the calls that share them.
namespace halcyon::observe::trace {

inline constexpr int duration_bits = 6;
inline constexpr int gap_bits = 5;
inline constexpr int largest_exponent = 10;
/// In the place of an exponent: start or duration are those of the call that was made meanwhile. A stdio call that
/// moves data is told twice, as itself and as the transfer, with the same times.
inline constexpr uint64_t as_inner_call = largest_exponent + 1;

struct short_float {
    uint64_t exponent;
    uint64_t mantissa;  ///< zigzag

    static short_float of(int64_t value, int mantissa_bits) {
        const uint64_t size = value < 0 ? 0 - bits(value) : bits(value);
        int exponent = 64 - std::countl_zero(size) - mantissa_bits;
        exponent = exponent < 0 ? 0 : exponent > largest_exponent ? largest_exponent : exponent;
        const int64_t mantissa =
            exponent == 0 ? value : static_cast<int64_t>(bits(value) + (uint64_t{1} << (exponent - 1))) >> exponent;
        return {static_cast<uint64_t>(exponent), zigzag(bits(mantissa))};
    }
    [[nodiscard]] int64_t value() const { return static_cast<int64_t>(unzigzag(mantissa) << exponent); }
};

/// Start and end of a call.
struct call_times {
    int64_t start;
    int64_t duration;
};

/// The calls during which the last ones were made: when these began, and how long the last of them took. Plain memory
/// that begins as zeros.
class outer_calls {
  public:
    struct inner {
        uint32_t thread;
        uint32_t parent;  ///< 0: nothing here
        call_times exact;
        call_times stored;
    };

    /// None when no call is known that was made during this one.
    [[nodiscard]] const inner* within(const calls::call_record& r) const {
        const inner& found = known_[place(r.thread, r.number)];
        return found.parent != 0 && found.parent == r.number && found.thread == r.thread ? &found : nullptr;
    }
    void learn(const calls::call_record& r, const call_times& exact, const call_times& stored) {
        if (r.parent == 0) return;
        inner& found = known_[place(r.thread, r.parent)];
        if (found.parent != r.parent || found.thread != r.thread) {
            found = {r.thread, r.parent, exact, stored};
            return;
        }
        found.exact.duration = exact.duration;
        found.stored.duration = stored.duration;
    }

  private:
    static constexpr uint32_t places = 256;
    [[nodiscard]] static uint32_t place(uint32_t thread, uint32_t number) { return (number + thread * 37) % places; }
    std::array<inner, places> known_;
};

}  // namespace halcyon::observe::trace
