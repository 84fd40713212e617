#include "observe/trace/chunk_coding.hpp"

#include <bit>
#include <cstring>

namespace halcyon::observe::trace {
namespace {

using calls::call_record;

enum coding : unsigned char { all_zero = 0, all_equal = 1, planes = 2 };  // + number of planes, 1 to 8

uint64_t zigzag(uint64_t difference) {
    const auto value = static_cast<int64_t>(difference);
    return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

uint64_t unzigzag(uint64_t value) {
    return value >> 1 ^ (0 - (value & 1));
}

/// What the last calls of one function on one file were like.
struct habit {
    uint64_t offset;
    uint64_t stride;
    uint64_t bytes;
    uint64_t argument;
    uint64_t result;
};

constexpr uint32_t habits = 512;

uint32_t habit_of(const call_record& record) {
    return (record.file * 0x9E3779B1u ^ record.function * 0x85EBCA77u) >> 7 & (habits - 1);
}

uint64_t bits(int64_t value) {
    return static_cast<uint64_t>(value);
}

// A column walks the records in order, the same way for writing and for reading: `get` and `set` reach the member,
// `expect` says what the records before make likely (it may use columns of the record itself that come earlier),
// `learn` sees the record once its value is known.

struct thread_column {
    static uint64_t get(const call_record& r) { return r.thread; }
    static void set(call_record& r, uint64_t v) { r.thread = static_cast<uint32_t>(v); }
    uint64_t expect(const call_record*, const call_record* last) { return last == nullptr ? 0 : last->thread; }
    void learn(const call_record&) {}
};

struct function_column {
    static uint64_t get(const call_record& r) { return r.function; }
    static void set(call_record& r, uint64_t v) { r.function = static_cast<uint16_t>(v); }
    uint64_t expect(const call_record*, const call_record*) { return 0; }
    void learn(const call_record&) {}
};

/// The same file again is 0, a file that no record before had is 1 when ids follow one another, and others are told by
/// their distance from the newest.
struct file_column {
    uint64_t last = 0;
    uint64_t newest = 0;
    [[nodiscard]] uint64_t code(uint64_t file) const {
        return file == last ? 0 : file > newest ? 2 * (file - newest) - 1 : 2 * (newest - file) + 2;
    }
    [[nodiscard]] uint64_t file(uint64_t code) const {
        return code == 0 ? last : code % 2 == 1 ? newest + (code + 1) / 2 : newest - (code - 2) / 2;
    }
    void learn(uint64_t file) {
        last = file;
        if (file > newest) newest = file;
    }
};

/// The next number of the thread: calls end in another order than they begin when they are nested.
struct number_column {
    static constexpr uint32_t threads = 256;
    uint64_t last_of[threads] = {};
    static uint64_t get(const call_record& r) { return r.number; }
    static void set(call_record& r, uint64_t v) { r.number = static_cast<uint32_t>(v); }
    uint64_t expect(const call_record* r, const call_record*) { return last_of[r->thread % threads] + 1; }
    void learn(const call_record& r) { last_of[r.thread % threads] = r.number; }
};

struct parent_column {
    static uint64_t get(const call_record& r) { return r.parent == 0 ? 0 : uint64_t{r.number} - r.parent; }
    static void set(call_record& r, uint64_t v) { r.parent = v == 0 ? 0 : static_cast<uint32_t>(r.number - v); }
    uint64_t expect(const call_record*, const call_record*) { return 0; }
    void learn(const call_record&) {}
};

struct offset_column {
    habit known[habits] = {};
    static uint64_t get(const call_record& r) { return bits(r.offset); }
    static void set(call_record& r, uint64_t v) { r.offset = static_cast<int64_t>(v); }
    uint64_t expect(const call_record* r, const call_record*) {
        const habit& h = known[habit_of(*r)];
        return h.offset + h.stride;
    }
    void learn(const call_record& r) {
        habit& h = known[habit_of(r)];
        h.stride = bits(r.offset) - h.offset;
        h.offset = bits(r.offset);
    }
};

struct bytes_column {
    habit known[habits] = {};
    static uint64_t get(const call_record& r) { return bits(r.bytes); }
    static void set(call_record& r, uint64_t v) { r.bytes = static_cast<int64_t>(v); }
    uint64_t expect(const call_record* r, const call_record*) { return known[habit_of(*r)].bytes; }
    void learn(const call_record& r) { known[habit_of(r)].bytes = bits(r.bytes); }
};

struct moved_column {
    static uint64_t get(const call_record& r) { return bits(r.moved); }
    static void set(call_record& r, uint64_t v) { r.moved = static_cast<int64_t>(v); }
    bool all[habits] = {};  // it moved what was asked
    uint64_t expect(const call_record* r, const call_record*) {
        return all[habit_of(*r)] ? bits(r->bytes) : bits(calls::none);
    }
    void learn(const call_record& r) { all[habit_of(r)] = r.moved != calls::none; }
};

/// What was moved, or else as many items of the last size as were asked for (fwrite), or else what it was last time.
struct result_column {
    habit known[habits] = {};
    static uint64_t get(const call_record& r) { return bits(r.result); }
    static void set(call_record& r, uint64_t v) { r.result = static_cast<int64_t>(v); }
    uint64_t expect(const call_record* r, const call_record*) {
        if (r->moved != calls::none) return bits(r->moved);
        const habit& h = known[habit_of(*r)];
        return r->bytes == calls::none || h.bytes == 0 ? h.result : bits(r->bytes) / h.bytes;
    }
    void learn(const call_record& r) {
        habit& h = known[habit_of(r)];
        h.result = bits(r.result);
        h.bytes = r.bytes > 0 && r.result > 0 && r.bytes % r.result == 0 ? bits(r.bytes / r.result) : 0;
    }
};

struct argument_column {
    habit known[habits] = {};
    static uint64_t get(const call_record& r) { return bits(r.argument); }
    static void set(call_record& r, uint64_t v) { r.argument = static_cast<int64_t>(v); }
    uint64_t expect(const call_record* r, const call_record*) { return known[habit_of(*r)].argument; }
    void learn(const call_record& r) { known[habit_of(r)].argument = bits(r.argument); }
};

struct error_column {
    static uint64_t get(const call_record& r) { return r.error; }
    static void set(call_record& r, uint64_t v) { r.error = static_cast<uint16_t>(v); }
    uint64_t expect(const call_record*, const call_record*) { return 0; }
    void learn(const call_record&) {}
};

unsigned char* put_column(std::span<const uint64_t> values, uint64_t any, bool equal, unsigned char* out) {
    if (any == 0) {
        *out++ = all_zero;
        return out;
    }
    if (equal) {
        *out++ = all_equal;
        std::memcpy(out, values.data(), sizeof(uint64_t));
        return out + sizeof(uint64_t);
    }
    unsigned char width = 0;
    for (uint64_t rest = any; rest != 0; rest >>= 8) ++width;
    *out++ = static_cast<unsigned char>(planes + width - 1);
    for (unsigned char plane = 0; plane < width; ++plane) {
        for (size_t i = 0; i < values.size(); ++i) out[i] = static_cast<unsigned char>(values[i] >> 8 * plane);
        out += values.size();
    }
    return out;
}

template <class Column>
unsigned char* encode(std::span<const call_record> records, std::span<uint64_t> scratch, unsigned char* out) {
    static Column column;  // too large for the stacks of some threads; chunks are coded one at a time
    static_assert(std::is_trivially_copyable_v<Column>);
    std::memset(static_cast<void*>(&column), 0, sizeof column);
    uint64_t any = 0;
    bool equal = true;
    const call_record* last = nullptr;
    for (size_t i = 0; i < records.size(); ++i) {
        scratch[i] = zigzag(Column::get(records[i]) - column.expect(&records[i], last));
        column.learn(records[i]);
        any |= scratch[i];
        equal = equal && scratch[i] == scratch[0];
        last = &records[i];
    }
    return put_column(scratch.first(records.size()), any, equal, out);
}

// --- times: a column of exponents and one of mantissas ---

constexpr int duration_bits = 6;
constexpr int gap_bits = 5;
constexpr int largest_exponent = 10;

int exponent_of(int64_t value, int mantissa_bits) {
    const uint64_t size = value < 0 ? 0 - bits(value) : bits(value);
    const int exponent = 64 - std::countl_zero(size) - mantissa_bits;
    return exponent < 0 ? 0 : exponent > largest_exponent ? largest_exponent : exponent;
}

int64_t mantissa_of(int64_t value, int exponent) {
    return exponent == 0 ? value : static_cast<int64_t>(bits(value) + (uint64_t{1} << (exponent - 1))) >> exponent;
}

int64_t from_float(uint64_t mantissa, uint64_t exponent) {
    return static_cast<int64_t>(mantissa << exponent);
}

/// `value(i)` is what is to be stored; `take(i, stored)` learns what it became.
template <class Value, class Take>
unsigned char* encode_times(size_t count, int mantissa_bits, std::span<uint64_t> scratch, unsigned char* out,
                            Value value, Take take) {
    unsigned char* exponents = out + 1;
    uint64_t any_exponent = 0;
    uint64_t any = 0;
    bool equal = true;
    for (size_t i = 0; i < count; ++i) {
        const int64_t exact = value(i);
        const int exponent = exponent_of(exact, mantissa_bits);
        const int64_t mantissa = mantissa_of(exact, exponent);
        exponents[i] = static_cast<unsigned char>(exponent);
        scratch[i] = zigzag(bits(mantissa));
        any_exponent |= static_cast<uint64_t>(exponent);
        any |= scratch[i];
        equal = equal && scratch[i] == scratch[0];
        take(i, from_float(bits(mantissa), static_cast<uint64_t>(exponent)));
    }
    out[0] = any_exponent == 0 ? all_zero : planes;
    return put_column(scratch.first(count), any, equal, any_exponent == 0 ? exponents : exponents + count);
}

unsigned char* encode_files(std::span<const call_record> records, std::span<uint64_t> scratch, unsigned char* out) {
    file_column column;
    uint64_t any = 0;
    bool equal = true;
    for (size_t i = 0; i < records.size(); ++i) {
        scratch[i] = column.code(records[i].file);
        column.learn(records[i].file);
        any |= scratch[i];
        equal = equal && scratch[i] == scratch[0];
    }
    return put_column(scratch.first(records.size()), any, equal, out);
}

/// Reads one column's differences, record by record.
class column_source {
  public:
    column_source(std::span<const unsigned char>& rest, size_t records) : records_(records) {
        if (rest.empty()) return;
        const unsigned char coded = rest[0];
        size_t bytes = 0;
        if (coded == all_equal)
            bytes = sizeof constant_;
        else if (coded >= planes && coded < planes + 8)
            bytes = (width_ = coded - planes + 1) * records;
        else if (coded != all_zero)
            return;
        if (rest.size() - 1 < bytes) return;
        data_ = rest.data() + 1;
        if (coded == all_equal) std::memcpy(&constant_, data_, sizeof constant_);
        rest = rest.subspan(1 + bytes);
        good_ = true;
    }
    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] uint64_t plain(size_t i) const {
        uint64_t value = constant_;
        for (size_t plane = 0; plane < width_; ++plane) value |= uint64_t{data_[plane * records_ + i]} << 8 * plane;
        return value;
    }
    [[nodiscard]] uint64_t operator[](size_t i) const { return unzigzag(plain(i)); }

  private:
    size_t records_;
    const unsigned char* data_ = nullptr;
    uint64_t constant_ = 0;
    size_t width_ = 0;
    bool good_ = false;
};

template <class Column>
bool decode(std::span<const unsigned char>& rest, std::span<call_record> records, Column column = {}) {
    const column_source differences(rest, records.size());
    if (!differences.good()) return false;
    const call_record* last = nullptr;
    for (size_t i = 0; i < records.size(); ++i) {
        Column::set(records[i], column.expect(&records[i], last) + differences[i]);
        column.learn(records[i]);
        last = &records[i];
    }
    return true;
}

bool decode_files(std::span<const unsigned char>& rest, std::span<call_record> records) {
    const column_source codes(rest, records.size());
    if (!codes.good()) return false;
    file_column column;
    for (size_t i = 0; i < records.size(); ++i) {
        records[i].file = static_cast<uint32_t>(column.file(codes.plain(i)));
        column.learn(records[i].file);
    }
    return true;
}

/// `take(i, stored)` gets the values as encode_times gave them to its own.
template <class Take>
bool decode_times(std::span<const unsigned char>& rest, size_t count, Take take) {
    if (rest.empty() || (rest[0] != all_zero && rest[0] != planes)) return false;
    const size_t bytes = rest[0] == planes ? count : 0;
    if (rest.size() - 1 < bytes) return false;
    const unsigned char* exponents = rest.data() + 1;
    rest = rest.subspan(1 + bytes);
    const column_source mantissas(rest, count);
    if (!mantissas.good()) return false;
    for (size_t i = 0; i < count; ++i) {
        const unsigned char exponent = bytes == 0 ? 0 : exponents[i];
        if (exponent > largest_exponent) return false;
        take(i, from_float(mantissas[i], exponent));
    }
    return true;
}

/// Where a record's gap is measured from: the end of the one before.
class end_of_last {
  public:
    explicit end_of_last(uint64_t first) : end_(first) {}
    [[nodiscard]] int64_t gap_to(int64_t start) const { return static_cast<int64_t>(bits(start) - end_); }
    int64_t start_after(int64_t gap, int64_t duration) {
        const uint64_t start = end_ + bits(gap);
        end_ = start + bits(duration);
        return static_cast<int64_t>(start);
    }

  private:
    uint64_t end_;
};

/// `durations` has one element for each record: what the reader will believe them to be.
unsigned char* encode_times_of(std::span<const call_record> records, int64_t unit, std::span<uint64_t> scratch,
                               std::span<uint64_t> durations, unsigned char* out) {
    const size_t count = records.size();
    const int64_t first = records[0].start / unit;
    std::memcpy(out, &first, sizeof first);
    out += sizeof first;
    out = encode_times(
        count, duration_bits, scratch, out, [&](size_t i) { return records[i].duration / unit; },
        [&](size_t i, int64_t stored) { durations[i] = bits(stored); });
    end_of_last end(bits(first));
    out = encode_times(
        count, gap_bits, scratch, out, [&](size_t i) { return end.gap_to(records[i].start / unit); },
        [&](size_t i, int64_t stored) { end.start_after(stored, static_cast<int64_t>(durations[i])); });
    return encode_times(
        count, duration_bits, scratch, out, [&](size_t i) { return records[i].wait / unit; }, [](size_t, int64_t) {});
}

bool decode_times_of(std::span<const unsigned char>& rest, std::span<call_record> records) {
    uint64_t first = 0;
    if (rest.size() < sizeof first) return false;
    std::memcpy(&first, rest.data(), sizeof first);
    rest = rest.subspan(sizeof first);
    const size_t count = records.size();
    end_of_last end(first);
    return decode_times(rest, count, [&](size_t i, int64_t stored) { records[i].duration = stored; }) &&
           decode_times(
               rest, count,
               [&](size_t i, int64_t stored) { records[i].start = end.start_after(stored, records[i].duration); }) &&
           decode_times(rest, count, [&](size_t i, int64_t stored) { records[i].wait = stored; });
}

void multiply_times(std::span<call_record> records, uint32_t unit) {
    for (call_record& record : records) {
        record.start = static_cast<int64_t>(bits(record.start) * unit);
        record.duration = static_cast<int64_t>(bits(record.duration) * unit);
        record.wait = static_cast<int64_t>(bits(record.wait) * unit);
    }
}

}  // namespace

// The order is part of the format: a column may expect by the columns before it.
size_t encode_columns(std::span<const call_record> records, uint32_t unit, std::span<uint64_t> scratch,
                      unsigned char* out) {
    const size_t count = records.size();
    unsigned char* at = encode_times_of(records, unit, scratch.first(count), scratch.subspan(count, count), out);
    at = encode<thread_column>(records, scratch, at);
    at = encode<function_column>(records, scratch, at);
    at = encode_files(records, scratch, at);
    at = encode<number_column>(records, scratch, at);
    at = encode<parent_column>(records, scratch, at);
    at = encode<offset_column>(records, scratch, at);
    at = encode<bytes_column>(records, scratch, at);
    at = encode<moved_column>(records, scratch, at);
    at = encode<result_column>(records, scratch, at);
    at = encode<argument_column>(records, scratch, at);
    at = encode<error_column>(records, scratch, at);
    return static_cast<size_t>(at - out);
}

bool decode_columns(std::span<const unsigned char> rest, uint32_t unit, std::span<call_record> records) {
    std::memset(static_cast<void*>(records.data()), 0, records.size_bytes());
    const bool good = decode_times_of(rest, records) && decode<thread_column>(rest, records) &&
                      decode<function_column>(rest, records) && decode_files(rest, records) &&
                      decode<number_column>(rest, records) && decode<parent_column>(rest, records) &&
                      decode<offset_column>(rest, records) && decode<bytes_column>(rest, records) &&
                      decode<moved_column>(rest, records) && decode<result_column>(rest, records) &&
                      decode<argument_column>(rest, records) && decode<error_column>(rest, records) && rest.empty();
    multiply_times(records, unit);
    return good;
}

}  // namespace halcyon::observe::trace
