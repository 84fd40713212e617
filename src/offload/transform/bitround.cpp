#include "offload/transform/bitround.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace halcyon::offload {
namespace {

template <class Bits, int mantissa, class Float>
void round_all(std::span<const Float> in, std::span<Float> out, int bits) {
    if (bits >= mantissa) {
        if (out.data() != in.data()) std::copy(in.begin(), in.end(), out.begin());
        return;
    }
    const int drop = mantissa - std::max(bits, 0);
    constexpr Bits sign_bit = Bits{1} << (8 * sizeof(Bits) - 1);
    constexpr Bits exponent = static_cast<Bits>(~sign_bit) >> mantissa << mantissa;
    const Bits keep = ~Bits{0} << drop;
    const Bits almost_half = (Bits{1} << (drop - 1)) - 1;
    for (size_t i = 0; i < in.size(); ++i) {
        const Bits value = std::bit_cast<Bits>(in[i]);
        Bits rounded = (value + almost_half + ((value >> drop) & 1)) & keep;
        rounded = (rounded & exponent) == exponent ? value & keep : rounded;
        rounded = (value & exponent) == exponent ? value : rounded;
        out[i] = std::bit_cast<Float>(rounded);
    }
}

}  // namespace

void bitround(std::span<const float> in, std::span<float> out, int bits) {
    round_all<uint32_t, 23>(in, out, bits);
}
void bitround(std::span<const double> in, std::span<double> out, int bits) {
    round_all<uint64_t, 52>(in, out, bits);
}

}  // namespace halcyon::offload
