#include "offload/model/model.hpp"

namespace halcyon::offload {

int64_t size_of(scalar_type type) {
    switch (type) {
        case scalar_type::int8:
        case scalar_type::uint8:
            return 1;
        case scalar_type::int16:
        case scalar_type::uint16:
            return 2;
        case scalar_type::int32:
        case scalar_type::uint32:
        case scalar_type::float32:
            return 4;
        case scalar_type::int64:
        case scalar_type::uint64:
        case scalar_type::float64:
            return 8;
    }
    return 0;
}

std::string_view name_of(scalar_type type) {
    switch (type) {
        case scalar_type::int8:
            return "int8";
        case scalar_type::int16:
            return "int16";
        case scalar_type::int32:
            return "int32";
        case scalar_type::int64:
            return "int64";
        case scalar_type::uint8:
            return "uint8";
        case scalar_type::uint16:
            return "uint16";
        case scalar_type::uint32:
            return "uint32";
        case scalar_type::uint64:
            return "uint64";
        case scalar_type::float32:
            return "float32";
        case scalar_type::float64:
            return "float64";
    }
    return "";
}

}  // namespace halcyon::offload
