#include "observe/trace/chunk_coding.hpp"

#include <cstring>

#include "observe/trace/column_numbers.hpp"
#include "observe/trace/column_planes.hpp"
#include "observe/trace/columns.hpp"
#include "observe/trace/times.hpp"
#include "observe/trace/trace_format.hpp"

namespace halcyon::observe::trace {
namespace {

using calls::call_record;

/// Scratch memory by what it is used for; one element for each record.
struct work {
    explicit work(std::span<uint64_t> scratch, size_t count)
        : values(scratch.first(count)),
          exponents(scratch.subspan(count, count)),
          durations(scratch.subspan(2 * count, count)) {}
    std::span<uint64_t> values;
    std::span<uint64_t> exponents;
    std::span<uint64_t> durations;  ///< what the reader will believe them to be
};

/// Too large for the stacks of some threads; chunks are encoded one at a time.
template <class Memory>
Memory& zeroed() {
    static Memory memory;
    static_assert(std::is_trivially_copyable_v<Memory>);
    std::memset(static_cast<void*>(&memory), 0, sizeof memory);
    return memory;
}

template <class Column, class Coder>
void encode(std::span<const call_record> records, work& work, Coder& coder) {
    auto& column = zeroed<Column>();
    for (size_t i = 0; i < records.size(); ++i) {
        work.values[i] = column.code(records[i]);
        column.learn(records[i]);
    }
    coder.pass(Column::which, records, {}, work.values);
}

template <class Column, class Coder>
bool decode(std::span<call_record> records, work& work, Coder& coder) {
    if (!coder.pass(Column::which, records, {}, work.values)) return false;
    Column column{};
    for (size_t i = 0; i < records.size(); ++i) {
        column.decode(records[i], work.values[i]);
        column.learn(records[i]);
    }
    return true;
}

// --- times: a column of exponents and one of mantissas each ---

/// Most counters have a unit of 2, for which the compiler knows better than to divide.
int64_t in_units(int64_t ticks, int64_t unit) {
    return unit == 2 ? ticks / 2 : ticks / unit;
}

template <class Coder>
bool pass_times(column exponents, std::span<const call_record> records, work& work, Coder& coder) {
    const auto mantissas = static_cast<column>(static_cast<uint32_t>(exponents) + 1);
    return coder.pass(exponents, records, {}, work.exponents) &&
           coder.pass(mantissas, records, work.exponents, work.values);
}

/// Where a record's gap is measured from: the start of the first call that was made meanwhile, or else the end of the
/// record before.
class gap_origin {
  public:
    void begin(uint64_t first) { end_ = first; }
    [[nodiscard]] uint64_t of(const outer_calls::inner* inner) const {
        return inner != nullptr ? bits(inner->stored.start) : end_;
    }
    void learn(const call_times& stored) { end_ = bits(stored.start) + bits(stored.duration); }

  private:
    uint64_t end_;
};

template <class Coder>
void encode_durations(std::span<const call_record> records, int64_t unit, work& work, Coder& coder) {
    auto& outer = zeroed<outer_calls>();
    for (size_t i = 0; i < records.size(); ++i) {
        const int64_t exact = in_units(records[i].duration, unit);
        const auto* inner = outer.within(records[i]);
        const bool same = inner != nullptr && inner->exact.duration == exact;
        const auto coded = same ? short_float{as_inner_call, 0} : short_float::of(exact, duration_bits);
        const int64_t stored = same ? inner->stored.duration : coded.value();
        work.exponents[i] = coded.exponent;
        work.values[i] = coded.mantissa;
        work.durations[i] = bits(stored);
        outer.learn(records[i], {0, exact}, {0, stored});
    }
    pass_times(column::duration_exponent, records, work, coder);
}

template <class Coder>
void encode_gaps(std::span<const call_record> records, int64_t unit, work& work, Coder& coder) {
    auto& outer = zeroed<outer_calls>();
    gap_origin origin;
    origin.begin(bits(in_units(records[0].start, unit)));
    for (size_t i = 0; i < records.size(); ++i) {
        const int64_t exact = in_units(records[i].start, unit);
        const auto* inner = outer.within(records[i]);
        const bool same = inner != nullptr && inner->exact.start == exact;
        const uint64_t from = origin.of(inner);
        const auto coded =
            same ? short_float{as_inner_call, 0} : short_float::of(static_cast<int64_t>(bits(exact) - from), gap_bits);
        const uint64_t start = same ? from : from + bits(coded.value());
        const call_times stored{static_cast<int64_t>(start), static_cast<int64_t>(work.durations[i])};
        work.exponents[i] = coded.exponent;
        work.values[i] = coded.mantissa;
        outer.learn(records[i], {exact, 0}, stored);
        origin.learn(stored);
    }
    pass_times(column::gap_exponent, records, work, coder);
}

template <class Coder>
void encode_waits(std::span<const call_record> records, int64_t unit, work& work, Coder& coder) {
    for (size_t i = 0; i < records.size(); ++i) {
        const auto coded = short_float::of(in_units(records[i].wait, unit), duration_bits);
        work.exponents[i] = coded.exponent;
        work.values[i] = coded.mantissa;
    }
    pass_times(column::wait_exponent, records, work, coder);
}

template <class Coder>
bool decode_durations(std::span<call_record> records, work& work, Coder& coder) {
    if (!pass_times(column::duration_exponent, records, work, coder)) return false;
    outer_calls outer{};
    for (size_t i = 0; i < records.size(); ++i) {
        const auto* inner = outer.within(records[i]);
        const bool same = work.exponents[i] == as_inner_call;
        if (work.exponents[i] > as_inner_call || (same && inner == nullptr)) return false;
        records[i].duration = same ? inner->stored.duration : short_float{work.exponents[i], work.values[i]}.value();
        outer.learn(records[i], {}, {0, records[i].duration});
    }
    return true;
}

template <class Coder>
bool decode_gaps(uint64_t first, std::span<call_record> records, work& work, Coder& coder) {
    if (!pass_times(column::gap_exponent, records, work, coder)) return false;
    outer_calls outer{};
    gap_origin origin;
    origin.begin(first);
    for (size_t i = 0; i < records.size(); ++i) {
        const auto* inner = outer.within(records[i]);
        const bool same = work.exponents[i] == as_inner_call;
        if (work.exponents[i] > as_inner_call || (same && inner == nullptr)) return false;
        const uint64_t gap = same ? 0 : bits(short_float{work.exponents[i], work.values[i]}.value());
        records[i].start = static_cast<int64_t>(origin.of(inner) + gap);
        const call_times stored{records[i].start, records[i].duration};
        outer.learn(records[i], {}, stored);
        origin.learn(stored);
    }
    return true;
}

template <class Coder>
bool decode_waits(std::span<call_record> records, work& work, Coder& coder) {
    if (!pass_times(column::wait_exponent, records, work, coder)) return false;
    for (size_t i = 0; i < records.size(); ++i) {
        if (work.exponents[i] > largest_exponent) return false;
        records[i].wait = short_float{work.exponents[i], work.values[i]}.value();
    }
    return true;
}

// --- contexts: most traces have none ---

/// Passes whether there are any; false when that cannot be read.
template <class Coder>
bool pass_has_contexts(std::span<const call_record> records, work& work, uint64_t& any, Coder& coder) {
    work.values[0] = any;
    const bool good = coder.pass(column::has_contexts, records.first(1), {}, work.values.first(1));
    any = work.values[0];
    return good && any <= 1;
}

template <class Coder>
void encode_contexts(std::span<const call_record> records, work& work, Coder& coder) {
    uint64_t any = 0;
    for (const call_record& record : records) any |= record.context != 0 ? 1 : 0;
    pass_has_contexts(records, work, any, coder);
    if (any != 0) encode<context_column>(records, work, coder);
}

template <class Coder>
bool decode_contexts(std::span<call_record> records, work& work, Coder& coder) {
    uint64_t any = 0;
    return pass_has_contexts(records, work, any, coder) && (any == 0 || decode<context_column>(records, work, coder));
}

// --- all of them, in the order of the format: a column may expect by the columns before it ---

template <class Coder>
void encode_all(std::span<const call_record> records, int64_t unit, std::span<uint64_t> scratch, Coder& coder) {
    work work(scratch, records.size());
    work.values[0] = bits(in_units(records[0].start, unit));
    coder.pass(column::first_start, records.first(1), {}, work.values.first(1));
    encode<thread_column>(records, work, coder);
    encode<function_column>(records, work, coder);
    encode<number_column>(records, work, coder);
    encode<parent_column>(records, work, coder);
    encode<file_column>(records, work, coder);
    encode<offset_column>(records, work, coder);
    encode<bytes_column>(records, work, coder);
    encode<moved_column>(records, work, coder);
    encode<result_column>(records, work, coder);
    encode<argument_column>(records, work, coder);
    encode<error_column>(records, work, coder);
    encode_durations(records, unit, work, coder);
    encode_gaps(records, unit, work, coder);
    encode_waits(records, unit, work, coder);
    encode_contexts(records, work, coder);
}

void multiply_times(std::span<call_record> records, uint32_t unit) {
    for (call_record& record : records) {
        record.start = static_cast<int64_t>(bits(record.start) * unit);
        record.duration = static_cast<int64_t>(bits(record.duration) * unit);
        record.wait = static_cast<int64_t>(bits(record.wait) * unit);
    }
}

template <class Coder>
bool decode_all(uint32_t version, uint32_t unit, std::span<uint64_t> scratch, std::span<call_record> records,
                Coder& coder) {
    std::memset(static_cast<void*>(records.data()), 0, records.size_bytes());
    work work(scratch, records.size());
    if (!coder.pass(column::first_start, records.first(1), {}, work.values.first(1))) return false;
    const uint64_t first = work.values[0];
    const bool good = decode<thread_column>(records, work, coder) && decode<function_column>(records, work, coder) &&
                      decode<number_column>(records, work, coder) && decode<parent_column>(records, work, coder) &&
                      decode<file_column>(records, work, coder) && decode<offset_column>(records, work, coder) &&
                      decode<bytes_column>(records, work, coder) && decode<moved_column>(records, work, coder) &&
                      decode<result_column>(records, work, coder) && decode<argument_column>(records, work, coder) &&
                      decode<error_column>(records, work, coder) && decode_durations(records, work, coder) &&
                      decode_gaps(first, records, work, coder) && decode_waits(records, work, coder) &&
                      (version < version_with_contexts || decode_contexts(records, work, coder));
    multiply_times(records, unit);
    return good;
}

}  // namespace

size_t encode_columns(std::span<const call_record> records, uint32_t unit, std::span<uint64_t> scratch,
                      unsigned char* out, plane_ends& ends) {
    plane_writer coder(out, ends);
    encode_all(records, unit, scratch, coder);
    return coder.bytes();
}

size_t encode_bits(std::span<const call_record> records, uint32_t unit, std::span<uint64_t> scratch, bit_model& model,
                   std::span<unsigned char> out) {
    static number_contexts contexts;
    model.begin();
    bit_encoder bits_out(model, out);
    number_columns coder(bits_out, contexts);
    encode_all(records, unit, scratch, coder);
    const size_t bytes = bits_out.end();
    return bits_out.full() ? 0 : bytes;
}

bool decode_columns(uint32_t version, std::span<const unsigned char> planes, uint32_t unit, std::span<uint64_t> scratch,
                    std::span<call_record> records) {
    plane_reader coder(planes);
    return decode_all(version, unit, scratch, records, coder) && coder.at_end();
}

bool decode_bits(uint32_t version, std::span<const unsigned char> coded, uint32_t unit, std::span<uint64_t> scratch,
                 bit_model& model, std::span<call_record> records) {
    number_contexts contexts;
    model.begin();
    bit_decoder bits_in(model, coded);
    number_columns coder(bits_in, contexts);
    return decode_all(version, unit, scratch, records, coder) && bits_in.at_end();
}

}  // namespace halcyon::observe::trace
