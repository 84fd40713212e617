#include "observe/trace/column_planes.hpp"

#include <cstring>

namespace halcyon::observe::trace {
namespace {

enum coding : unsigned char { all_zero = 0, all_equal = 1, planes = 2 };  // + number of planes, 1 to 8, less 1

}  // namespace

bool plane_writer::pass(column, std::span<const calls::call_record>, std::span<const uint64_t>,
                        std::span<uint64_t> values) {
    uint64_t any = 0;
    bool equal = true;
    for (const uint64_t value : values) {
        any |= value;
        equal = equal && value == values[0];
    }
    if (any == 0) {
        *out_++ = all_zero;
        return true;
    }
    if (equal) {
        *out_++ = all_equal;
        std::memcpy(out_, values.data(), sizeof(uint64_t));
        out_ += sizeof(uint64_t);
        return true;
    }
    unsigned char width = 0;
    for (uint64_t rest = any; rest != 0; rest >>= 8) ++width;
    *out_++ = static_cast<unsigned char>(planes + width - 1);
    for (unsigned char plane = 0; plane < width; ++plane) {
        for (size_t i = 0; i < values.size(); ++i) out_[i] = static_cast<unsigned char>(values[i] >> 8 * plane);
        out_ += values.size();
        ends_.add(bytes(), values.size());
    }
    return true;
}

bool plane_reader::pass(column, std::span<const calls::call_record>, std::span<const uint64_t>,
                        std::span<uint64_t> values) {
    if (rest_.empty()) return false;
    const unsigned char coded = rest_[0];
    const bool in_planes = coded >= planes && coded < planes + 8;
    const size_t width = in_planes ? size_t{coded} - planes + 1 : 0;
    const size_t bytes = coded == all_equal ? sizeof(uint64_t) : width * values.size();
    if ((!in_planes && coded > all_equal) || rest_.size() - 1 < bytes) return false;
    const unsigned char* data = rest_.data() + 1;
    uint64_t same = 0;
    if (coded == all_equal) std::memcpy(&same, data, sizeof same);
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = same;
        for (size_t plane = 0; plane < width; ++plane)
            values[i] |= uint64_t{data[plane * values.size() + i]} << 8 * plane;
    }
    rest_ = rest_.subspan(1 + bytes);
    return true;
}

}  // namespace halcyon::observe::trace
