#include "offload/store/contents/precision_reducer.hpp"

#include "offload/transform/bitround.hpp"
#include "offload/transform/half.hpp"

namespace halcyon::offload {
namespace {

template <class T>
std::span<const T> as(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
std::span<T> as(std::span<std::byte> bytes) {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

std::span<const std::byte> precision_reducer::reduce(std::span<const std::byte> values, const encoding& how) {
    const bool narrow = how.type == scalar_type::float32;
    if (how.precision == precision::half) {
        const std::span<std::byte> out = reduced_.take(values.size() / static_cast<size_t>(size_of(how.type)) * 2);
        overflows_ +=
            narrow ? to_half(as<float>(values), as<uint16_t>(out)) : to_half(as<double>(values), as<uint16_t>(out));
        return out;
    }
    if (how.precision == precision::bitround) {
        const std::span<std::byte> out = reduced_.take(values.size());
        if (narrow) {
            bitround(as<float>(values), as<float>(out), how.significant_bits);
        } else {
            bitround(as<double>(values), as<double>(out), how.significant_bits);
        }
        return out;
    }
    return values;
}

}  // namespace halcyon::offload
