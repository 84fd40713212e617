#include "base/crc32c.hpp"

#include <array>
#include <atomic>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace halcyon {
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

uint32_t take_by_table(uint32_t state, const std::byte* at, size_t bytes) {
    for (; bytes >= lanes; at += lanes, bytes -= lanes) {
        uint32_t next = 0;
        for (size_t i = 0; i < lanes; ++i) {
            const uint32_t of_state = i < 4 ? (state >> (8 * i)) & 0xff : 0;
            next ^= tables[lanes - 1 - i][(of_state ^ static_cast<uint32_t>(at[i])) & 0xff];
        }
        state = next;
    }
    for (; bytes > 0; ++at, --bytes) state = (state >> 8) ^ tables[0][(state ^ static_cast<uint32_t>(*at)) & 0xff];
    return state;
}

uint32_t copy_by_table(uint32_t state, std::byte* to, const std::byte* at, size_t bytes) {
    std::memcpy(to, at, bytes);
    return take_by_table(state, at, bytes);
}

#if defined(__x86_64__)

// The instruction takes three cycles and can begin anew in each: three stretches are summed side by side. The sum of
// the first is then carried over the others, as if that many zero bytes followed, which is linear in each of its bits.
constexpr size_t stretch_bytes = 1024;
using carry_table = std::array<std::array<uint32_t, 256>, 4>;

constexpr carry_table make_carry() {
    std::array<uint32_t, 32> of_bit{};
    for (uint32_t bit = 0; bit < 32; ++bit) {
        uint32_t state = uint32_t{1} << bit;
        for (size_t i = 0; i < stretch_bytes; ++i) state = (state >> 8) ^ tables[0][state & 0xff];
        of_bit[bit] = state;
    }
    carry_table carry{};
    for (uint32_t place = 0; place < 4; ++place)
        for (uint32_t byte = 0; byte < 256; ++byte)
            for (uint32_t bit = 0; bit < 8; ++bit)
                if (((byte >> bit) & 1U) != 0) carry[place][byte] ^= of_bit[place * 8 + bit];
    return carry;
}

constexpr carry_table carry = make_carry();

uint64_t carried(uint64_t state) {
    return carry[0][state & 0xff] ^ carry[1][(state >> 8) & 0xff] ^ carry[2][(state >> 16) & 0xff] ^
           carry[3][(state >> 24) & 0xff];
}

uint64_t word_at(const std::byte* at) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) uint32_t take_by_instruction(uint32_t before, const std::byte* at, size_t bytes) {
    uint64_t state = before;
    for (; bytes >= 3 * stretch_bytes; at += 3 * stretch_bytes, bytes -= 3 * stretch_bytes) {
        uint64_t second = 0;
        uint64_t third = 0;
        for (size_t i = 0; i < stretch_bytes; i += 8) {
            state = _mm_crc32_u64(state, word_at(at + i));
            second = _mm_crc32_u64(second, word_at(at + stretch_bytes + i));
            third = _mm_crc32_u64(third, word_at(at + 2 * stretch_bytes + i));
        }
        state = carried(carried(state) ^ second) ^ third;
    }
    for (; bytes >= 8; at += 8, bytes -= 8) state = _mm_crc32_u64(state, word_at(at));
    auto last = static_cast<uint32_t>(state);
    for (; bytes > 0; ++at, --bytes) last = _mm_crc32_u8(last, static_cast<uint8_t>(*at));
    return last;
}

__attribute__((target("sse4.2"))) uint32_t copy_by_instruction(uint32_t before, std::byte* to, const std::byte* at,
                                                               size_t bytes) {
    uint64_t state = before;
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t word = word_at(at + i);
        state = _mm_crc32_u64(state, word);
        std::memcpy(to + i, &word, sizeof word);
    }
    return static_cast<uint32_t>(state);
}

bool has_instruction() {
    __builtin_cpu_init();  // this may be asked before the constructors of the run time have run
    return __builtin_cpu_supports("sse4.2") != 0;
}

#elif defined(__aarch64__)

__attribute__((target("+crc"))) uint32_t take_by_instruction(uint32_t state, const std::byte* at, size_t bytes) {
    for (; bytes >= 8; at += 8, bytes -= 8) {
        uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        state = __crc32cd(state, word);
    }
    for (; bytes > 0; ++at, --bytes) state = __crc32cb(state, static_cast<uint8_t>(*at));
    return state;
}

__attribute__((target("+crc"))) uint32_t copy_by_instruction(uint32_t state, std::byte* to, const std::byte* at,
                                                             size_t bytes) {
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        std::memcpy(&word, at + i, sizeof word);
        state = __crc32cd(state, word);
        std::memcpy(to + i, &word, sizeof word);
    }
    return state;
}

bool has_instruction() {
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

#else

constexpr auto take_by_instruction = take_by_table;
constexpr auto copy_by_instruction = copy_by_table;
bool has_instruction() {
    return false;
}
#endif

using take = uint32_t (*)(uint32_t, const std::byte*, size_t);
using copy = uint32_t (*)(uint32_t, std::byte*, const std::byte*, size_t);

uint32_t choose_and_take(uint32_t state, const std::byte* at, size_t bytes);
uint32_t choose_and_copy(uint32_t state, std::byte* to, const std::byte* at, size_t bytes);

constinit std::atomic<take> chosen{choose_and_take};
constinit std::atomic<copy> chosen_copy{choose_and_copy};

uint32_t choose_and_take(uint32_t state, const std::byte* at, size_t bytes) {
    const take found = has_instruction() ? take_by_instruction : take_by_table;
    chosen.store(found, std::memory_order_relaxed);
    return found(state, at, bytes);
}

uint32_t choose_and_copy(uint32_t state, std::byte* to, const std::byte* at, size_t bytes) {
    const copy found = has_instruction() ? copy_by_instruction : copy_by_table;
    chosen_copy.store(found, std::memory_order_relaxed);
    return found(state, to, at, bytes);
}

}  // namespace

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) {
    return ~chosen.load(std::memory_order_relaxed)(~before, bytes.data(), bytes.size());
}

uint32_t copy_with_crc32c(std::byte* to, std::span<const std::byte> words, uint32_t before) {
    return ~chosen_copy.load(std::memory_order_relaxed)(~before, to, words.data(), words.size());
}

uint32_t crc32c_by_table(std::span<const std::byte> bytes, uint32_t before) {
    return ~take_by_table(~before, bytes.data(), bytes.size());
}

}  // namespace halcyon
