#include "logfs/container/format/record_coding.hpp"

#include <cstdint>

#include "logfs/container/format/varint.hpp"

namespace halcyon::logfs {
namespace {

// The byte at the beginning of a record.
constexpr uint8_t kind_mask = 0x07;
constexpr uint8_t same_length = 0x08;
constexpr uint8_t physical_follows = 0x10;
constexpr uint8_t is_single = 0x20;
constexpr uint8_t same_shape = 0x40;  // stride and count
constexpr uint8_t is_instant = 0x80;  // last_ns == first_ns, which is exact

constexpr int64_t most = INT64_MAX;

/// Differences wrap: what is added to the same base again gives the same number.
int64_t difference(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t sum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

std::byte* encode_run(const run& what, const coding_base& base, std::byte* out) {
    auto tag = static_cast<uint8_t>(record_kind::run);
    if (what.length == base.length) tag |= same_length;
    if (what.physical == base.physical_end) tag |= physical_follows;
    if (!what.is_pattern())
        tag |= is_single;
    else if (what.stride == base.stride && what.count == base.count)
        tag |= same_shape;
    if (what.last_ns == what.first_ns && what.error_exponent == 0) tag |= is_instant;

    *out++ = static_cast<std::byte>(tag);
    out = put_varint(out, folded(difference(what.start, base.start)));
    if ((tag & same_length) == 0) out = put_varint(out, static_cast<uint64_t>(what.length));
    if ((tag & physical_follows) == 0) out = put_varint(out, folded(difference(what.physical, base.physical_end)));
    if ((tag & (is_single | same_shape)) == 0) {
        out = put_varint(out, static_cast<uint64_t>(what.count));
        out = put_varint(out, folded(what.stride));
    }
    out = put_varint(out, folded(difference(what.first_ns, base.time_ns)));
    if ((tag & is_instant) == 0) {
        out = put_varint(out, static_cast<uint64_t>(what.span_ns()));
        *out++ = static_cast<std::byte>(what.error_exponent);
    }
    return out;
}

run decode_run(uint8_t tag, const coding_base& base, varint_source& from) {
    run what;
    what.start = sum(base.start, from.next_folded());
    what.length = (tag & same_length) != 0 ? base.length : static_cast<int64_t>(from.next());
    what.physical = (tag & physical_follows) != 0 ? base.physical_end : sum(base.physical_end, from.next_folded());
    what.count = 1;
    if ((tag & is_single) == 0) {
        const bool same = (tag & same_shape) != 0;
        what.count = same ? base.count : static_cast<int64_t>(from.next());
        what.stride = same ? base.stride : from.next_folded();
    }
    what.first_ns = sum(base.time_ns, from.next_folded());
    what.last_ns = what.first_ns;
    if ((tag & is_instant) == 0) {
        what.last_ns = sum(what.first_ns, static_cast<int64_t>(from.next()));
        what.error_exponent = from.next_byte();
    }
    return what;
}

void go_on(const run& what, coding_base& base) {
    base.start = what.start;
    base.length = what.length;
    if (what.is_pattern()) {
        base.stride = what.stride;
        base.count = what.count;
    }
    base.physical_end = what.physical_end();
    base.time_ns = what.last_ns;
}

/// Of kinds that are no runs.
bool is_sound(const record& what) {
    const run& numbers = what.what;
    if (numbers.start < 0 || numbers.length < 0 || numbers.first_ns < 0) return false;
    switch (what.kind) {
        case record_kind::hole:
            return numbers.length > 0 && numbers.length <= most - numbers.start;
        case record_kind::data_check:
            return numbers.length > 0;
        default:
            return true;
    }
}

}  // namespace

bool is_sound(const run& what) {
    if (what.start < 0 || what.length <= 0 || what.count <= 0 || what.physical < 0) return false;
    if (what.first_ns < 0 || what.last_ns < what.first_ns || what.error_exponent > 62) return false;
    int64_t bytes = 0;
    int64_t end = 0;
    if (__builtin_mul_overflow(what.length, what.count, &bytes) || __builtin_add_overflow(what.physical, bytes, &end))
        return false;
    int64_t reach = 0;
    int64_t last = 0;
    if (__builtin_mul_overflow(what.stride, what.count - 1, &reach) || __builtin_add_overflow(what.start, reach, &last))
        return false;
    if (last < 0 || __builtin_add_overflow(last, what.length, &end)) return false;
    if (__builtin_add_overflow(what.start, what.length, &end)) return false;
    return what.count == 1 || what.stride == 0 || what.stride >= what.length || what.stride <= -what.length;
}

size_t encode_record(const record& what, coding_base& base, std::byte* out) {
    std::byte* at = out;
    const run& numbers = what.what;
    if (what.kind == record_kind::run) {
        at = encode_run(numbers, base, at);
        go_on(numbers, base);
        return static_cast<size_t>(at - out);
    }
    *at++ = static_cast<std::byte>(what.kind);
    if (what.kind == record_kind::data_check) {
        at = put_word(put_varint(at, static_cast<uint64_t>(numbers.length)), what.sum);
        return static_cast<size_t>(at - out);
    }
    if (what.kind != record_kind::epoch) at = put_varint(at, static_cast<uint64_t>(numbers.start));
    if (what.kind == record_kind::hole) at = put_varint(at, static_cast<uint64_t>(numbers.length));
    at = put_varint(at, folded(difference(numbers.first_ns, base.time_ns)));
    base.time_ns = numbers.first_ns;
    if (what.kind == record_kind::epoch) base.epoch_ns = numbers.first_ns;
    return static_cast<size_t>(at - out);
}

size_t decode_record(std::span<const std::byte> from, coding_base& base, record& out) {
    varint_source source(from.data(), from.data() + from.size());
    const uint8_t tag = source.next_byte();
    const auto kind = static_cast<record_kind>(tag & kind_mask);
    out = {};
    out.kind = kind;
    run& numbers = out.what;
    switch (kind) {
        case record_kind::run:
            numbers = decode_run(tag, base, source);
            if (source.failed() || !is_sound(numbers)) return 0;
            go_on(numbers, base);
            return static_cast<size_t>(source.at() - from.data());
        case record_kind::data_check:
            numbers.length = static_cast<int64_t>(source.next());
            out.sum = source.next_word();
            break;
        case record_kind::hole:
        case record_kind::cut:
        case record_kind::reach:
            numbers.start = static_cast<int64_t>(source.next());
            if (kind == record_kind::hole) numbers.length = static_cast<int64_t>(source.next());
            [[fallthrough]];
        case record_kind::epoch:
            numbers.count = 1;
            numbers.first_ns = numbers.last_ns = sum(base.time_ns, source.next_folded());
            break;
        default:
            return 0;
    }
    if (source.failed() || (tag & ~kind_mask) != 0 || !is_sound(out)) return 0;
    if (kind != record_kind::data_check) base.time_ns = numbers.first_ns;
    if (kind == record_kind::epoch) base.epoch_ns = numbers.first_ns;
    return static_cast<size_t>(source.at() - from.data());
}

}  // namespace halcyon::logfs
