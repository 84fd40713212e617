#include "offload/transform/value_range.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace halcyon::offload {
namespace {

/// The nearest double that is not above / not below `value`.
template <class T>
double bound(T value, bool upper) {
    const auto near = static_cast<double>(value);
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
        // long double holds every 64-bit integer on the platforms whose doubles do not.
        const auto exact = static_cast<long double>(value);
        if (upper && near < exact) return std::nextafter(near, std::numeric_limits<double>::infinity());
        if (!upper && near > exact) return std::nextafter(near, -std::numeric_limits<double>::infinity());
    }
    return near;
}

template <class T>
value_range scan(std::span<const std::byte> data) {
    const std::span<const T> values{reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
    constexpr bool floating = std::is_floating_point_v<T>;
    T low = floating ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    T high = floating ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    int64_t nans = 0;
    for (const T v : values) {
        // Comparisons with NaN are false, so it never becomes a bound.
        low = v < low ? v : low;
        high = v > high ? v : high;
        if constexpr (floating) nans += static_cast<int64_t>(v != v);
    }
    if (nans == static_cast<int64_t>(values.size())) {
        const double none = std::numeric_limits<double>::quiet_NaN();
        return {none, none, nans};
    }
    return {bound(low, false), bound(high, true), nans};
}

}  // namespace

value_range range_of(std::span<const std::byte> data, scalar_type type) {
    switch (type) {
        case scalar_type::int8:
            return scan<int8_t>(data);
        case scalar_type::int16:
            return scan<int16_t>(data);
        case scalar_type::int32:
            return scan<int32_t>(data);
        case scalar_type::int64:
            return scan<int64_t>(data);
        case scalar_type::uint8:
            return scan<uint8_t>(data);
        case scalar_type::uint16:
            return scan<uint16_t>(data);
        case scalar_type::uint32:
            return scan<uint32_t>(data);
        case scalar_type::uint64:
            return scan<uint64_t>(data);
        case scalar_type::float32:
            return scan<float>(data);
        case scalar_type::float64:
            return scan<double>(data);
    }
    return {};
}

}  // namespace halcyon::offload
