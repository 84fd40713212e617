#include "offload/store/zarr/crc32c.hpp"

#include <array>

namespace halcyon::offload::zarr {
namespace {

constexpr size_t lanes = 8;
using crc_table = std::array<std::array<uint32_t, 256>, lanes>;

/// `tables[0]` is of one byte; `tables[k]` of one that k zero bytes follow, so that eight bytes are taken at a time.
constexpr crc_table make_tables() {
    constexpr uint32_t reversed_polynomial = 0x82f63b78;
    crc_table tables{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t sum = byte;
        for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1U) != 0 ? reversed_polynomial : 0);
        tables[0][byte] = sum;
    }
    for (size_t lane = 1; lane < lanes; ++lane)
        for (size_t byte = 0; byte < 256; ++byte) {
            const uint32_t before = tables[lane - 1][byte];
            tables[lane][byte] = (before >> 8) ^ tables[0][before & 0xff];
        }
    return tables;
}

constexpr crc_table tables = make_tables();

}  // namespace

uint32_t crc32c(std::span<const std::byte> bytes) {
    uint32_t sum = 0xffffffff;
    size_t at = 0;
    for (; at + lanes <= bytes.size(); at += lanes) {
        uint32_t next = 0;
        for (size_t i = 0; i < lanes; ++i) {
            const uint32_t of_sum = i < 4 ? (sum >> (8 * i)) & 0xff : 0;
            next ^= tables[lanes - 1 - i][(of_sum ^ static_cast<uint32_t>(bytes[at + i])) & 0xff];
        }
        sum = next;
    }
    for (; at < bytes.size(); ++at) sum = (sum >> 8) ^ tables[0][(sum ^ static_cast<uint32_t>(bytes[at])) & 0xff];
    return ~sum;
}

}  // namespace halcyon::offload::zarr
