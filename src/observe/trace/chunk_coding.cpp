#include "observe/trace/chunk_coding.hpp"

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

// One column at a time: `each(i, predicted)` style passes would need all differences at once. A column is a pair of
// functions that walk the records in the same order with the same state: what it expects of record i, and its value.
// `Value` reads or writes the member, `Expect` predicts it from records 0 … i-1 and from columns decoded before.

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

struct file_column {
    static uint64_t get(const call_record& r) { return r.file; }
    static void set(call_record& r, uint64_t v) { r.file = static_cast<uint32_t>(v); }
    uint64_t expect(const call_record*, const call_record* last) { return last == nullptr ? 0 : last->file; }
    void learn(const call_record&) {}
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

/// In units of time. Starts where the last record ended.
struct start_column {
    static uint64_t get(const call_record& r) { return bits(r.start); }
    static void set(call_record& r, uint64_t v) { r.start = static_cast<int64_t>(v); }
    uint64_t end = 0;
    uint64_t expect(const call_record*, const call_record*) { return end; }
    void learn(const call_record& r) { end = bits(r.start) + bits(r.duration); }
};

struct duration_column {
    static uint64_t get(const call_record& r) { return bits(r.duration); }
    static void set(call_record& r, uint64_t v) { r.duration = static_cast<int64_t>(v); }
    uint64_t expect(const call_record*, const call_record*) { return 0; }
    void learn(const call_record&) {}
};

struct wait_column {
    static uint64_t get(const call_record& r) { return bits(r.wait); }
    static void set(call_record& r, uint64_t v) { r.wait = static_cast<int64_t>(v); }
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

struct result_column {
    habit known[habits] = {};
    static uint64_t get(const call_record& r) { return bits(r.result); }
    static void set(call_record& r, uint64_t v) { r.result = static_cast<int64_t>(v); }
    uint64_t expect(const call_record* r, const call_record*) {
        return r->moved != calls::none ? bits(r->moved) : known[habit_of(*r)].result;
    }
    void learn(const call_record& r) { known[habit_of(r)].result = bits(r.result); }
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

/// Time columns are stored in units: what is known of a record while it is coded has them divided already.
call_record in_units(const call_record& record, uint32_t unit) {
    call_record divided = record;
    divided.start /= unit;
    divided.duration /= unit;
    divided.wait /= unit;
    return divided;
}

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
unsigned char* encode(std::span<const call_record> records, uint32_t unit, std::span<uint64_t> scratch,
                      unsigned char* out) {
    static Column column;  // too large for the stacks of some threads; chunks are coded one at a time
    static_assert(std::is_trivially_copyable_v<Column>);
    std::memset(static_cast<void*>(&column), 0, sizeof column);
    constexpr bool timed = std::is_same_v<Column, start_column> || std::is_same_v<Column, duration_column> ||
                           std::is_same_v<Column, wait_column>;
    uint64_t any = 0;
    bool equal = true;
    const call_record* last = nullptr;
    for (size_t i = 0; i < records.size(); ++i) {
        const auto value_of = [&](const call_record& record) {
            scratch[i] = zigzag(Column::get(record) - column.expect(&record, last));
            column.learn(record);
        };
        if constexpr (timed)
            value_of(in_units(records[i], unit));
        else
            value_of(records[i]);
        any |= scratch[i];
        equal = equal && scratch[i] == scratch[0];
        last = &records[i];
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
    [[nodiscard]] uint64_t operator[](size_t i) const {
        uint64_t value = constant_;
        for (size_t plane = 0; plane < width_; ++plane) value |= uint64_t{data_[plane * records_ + i]} << 8 * plane;
        return unzigzag(value);
    }

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

}  // namespace

// The order is part of the format: a column may expect by the columns before it. Start comes after duration.
size_t encode_columns(std::span<const call_record> records, uint32_t unit, std::span<uint64_t> scratch,
                      unsigned char* out) {
    unsigned char* at = out;
    at = encode<thread_column>(records, unit, scratch, at);
    at = encode<function_column>(records, unit, scratch, at);
    at = encode<file_column>(records, unit, scratch, at);
    at = encode<number_column>(records, unit, scratch, at);
    at = encode<parent_column>(records, unit, scratch, at);
    at = encode<duration_column>(records, unit, scratch, at);
    at = encode<start_column>(records, unit, scratch, at);
    at = encode<wait_column>(records, unit, scratch, at);
    at = encode<offset_column>(records, unit, scratch, at);
    at = encode<bytes_column>(records, unit, scratch, at);
    at = encode<moved_column>(records, unit, scratch, at);
    at = encode<result_column>(records, unit, scratch, at);
    at = encode<argument_column>(records, unit, scratch, at);
    at = encode<error_column>(records, unit, scratch, at);
    return static_cast<size_t>(at - out);
}

bool decode_columns(std::span<const unsigned char> rest, uint32_t unit, std::span<call_record> records) {
    std::memset(static_cast<void*>(records.data()), 0, records.size_bytes());
    const bool good = decode<thread_column>(rest, records) && decode<function_column>(rest, records) &&
                      decode<file_column>(rest, records) && decode<number_column>(rest, records) &&
                      decode<parent_column>(rest, records) && decode<duration_column>(rest, records) &&
                      decode<start_column>(rest, records) && decode<wait_column>(rest, records) &&
                      decode<offset_column>(rest, records) && decode<bytes_column>(rest, records) &&
                      decode<moved_column>(rest, records) && decode<result_column>(rest, records) &&
                      decode<argument_column>(rest, records) && decode<error_column>(rest, records) && rest.empty();
    for (call_record& record : records) {
        record.start = static_cast<int64_t>(bits(record.start) * unit);
        record.duration = static_cast<int64_t>(bits(record.duration) * unit);
        record.wait = static_cast<int64_t>(bits(record.wait) * unit);
    }
    return good;
}

}  // namespace halcyon::observe::trace
