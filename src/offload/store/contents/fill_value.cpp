#include "offload/store/contents/fill_value.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

namespace halcyon::offload {
namespace {

template <class T>
std::vector<std::byte> bytes_of(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

}  // namespace

std::vector<std::byte> fill_value(scalar_type type, bool half) {
    if (half) return bytes_of(uint16_t{0x7e00});
    switch (type) {
        case scalar_type::int8:
            return bytes_of(std::numeric_limits<int8_t>::lowest());
        case scalar_type::int16:
            return bytes_of(std::numeric_limits<int16_t>::lowest());
        case scalar_type::int32:
            return bytes_of(std::numeric_limits<int32_t>::lowest());
        case scalar_type::int64:
            return bytes_of(std::numeric_limits<int64_t>::lowest());
        case scalar_type::uint8:
            return bytes_of(std::numeric_limits<uint8_t>::max());
        case scalar_type::uint16:
            return bytes_of(std::numeric_limits<uint16_t>::max());
        case scalar_type::uint32:
            return bytes_of(std::numeric_limits<uint32_t>::max());
        case scalar_type::uint64:
            return bytes_of(std::numeric_limits<uint64_t>::max());
        case scalar_type::float32:
            return bytes_of(std::numeric_limits<float>::quiet_NaN());
        case scalar_type::float64:
            return bytes_of(std::numeric_limits<double>::quiet_NaN());
    }
    return {};
}

}  // namespace halcyon::offload
