#include "offload/transform/half.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace halcyon::offload {
namespace {

template <class Float>
struct layout_of;

template <>
struct layout_of<float> {
    using bits = uint32_t;
    static constexpr int mantissa = 23;
    static constexpr int bias = 127;
    static constexpr float subnormal_magic = 0.5F;
};

template <>
struct layout_of<double> {
    using bits = uint64_t;
    static constexpr int mantissa = 52;
    static constexpr int bias = 1023;
    static constexpr double subnormal_magic = 268435456.0;
};

/// Every case is computed and one selected, without a branch, so that the loop around it becomes vector code.
template <class Float>
int64_t convert(std::span<const Float> in, std::span<uint16_t> out) {
    using form = layout_of<Float>;
    using bits_t = typename form::bits;
    constexpr int drop = form::mantissa - 10;
    constexpr bits_t sign_bit = bits_t{1} << (8 * sizeof(bits_t) - 1);
    constexpr bits_t infinity = bits_t{2 * form::bias + 1} << form::mantissa;
    constexpr bits_t rebias = bits_t{form::bias - 15} << form::mantissa;
    constexpr bits_t smallest_normal = bits_t{form::bias - 14} << form::mantissa;
    // 65520 lies halfway between the largest half and the next power of two; the tie goes to the even one: infinity.
    constexpr bits_t overflow = std::bit_cast<bits_t>(Float{65520});
    // The last bit of this number weighs 2^-24, as that of a subnormal half: adding it makes the processor round.
    constexpr Float magic = form::subnormal_magic;

    int64_t overflows = 0;
    for (size_t i = 0; i < in.size(); ++i) {
        const bits_t bits = std::bit_cast<bits_t>(in[i]);
        const bits_t magnitude = bits & ~sign_bit;
        const bits_t sign = (bits & sign_bit) >> (8 * sizeof(bits_t) - 16);
        const bits_t odd = (magnitude >> drop) & 1;
        const bits_t normal = (magnitude - rebias + ((bits_t{1} << (drop - 1)) - 1) + odd) >> drop;
        const bits_t subnormal =
            std::bit_cast<bits_t>(std::bit_cast<Float>(magnitude) + magic) - std::bit_cast<bits_t>(magic);
        const bits_t nan = 0x7e00 | ((magnitude >> drop) & 0x3ff);
        bits_t half = magnitude < smallest_normal ? subnormal : normal;
        half = magnitude >= overflow ? bits_t{0x7c00} : half;
        half = magnitude > infinity ? nan : half;
        out[i] = static_cast<uint16_t>(half | sign);
        overflows += static_cast<int64_t>((magnitude >= overflow) & (magnitude < infinity));
    }
    return overflows;
}

}  // namespace

int64_t to_half(std::span<const float> in, std::span<uint16_t> out) {
    return convert(in, out);
}
int64_t to_half(std::span<const double> in, std::span<uint16_t> out) {
    return convert(in, out);
}

double half_value(uint16_t half) {
    const int exponent = (half >> 10) & 0x1f;
    const int mantissa = half & 0x3ff;
    double magnitude = 0;
    if (exponent == 0x1f) {
        magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == 0) {
        magnitude = std::ldexp(mantissa, -24);
    } else {
        magnitude = std::ldexp(mantissa + 1024, exponent - 25);
    }
    return std::copysign(magnitude, half >> 15 ? -1.0 : 1.0);
}

}  // namespace halcyon::offload
