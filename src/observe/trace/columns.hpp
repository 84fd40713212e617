#pragma once

#include <cstdint>

#include "calls/record/call_record.hpp"

/// The columns of a chunk: what the members of call_record become when the records before make them likely.
///
/// A column walks the records in order, the same way for writing and for reading. `code` says by which number the
/// reader gets the member back, 0 where it is what was expected; it may use members of the record itself whose columns
/// come earlier. `decode` is its opposite. `learn` sees the record once the member is known. All are plain memory that
/// begins as zeros.
namespace halcyon::observe::trace {

/// The order is that of the format.
enum class column : uint32_t {
    first_start,  ///< one number, not one for each record
    thread,
    function,
    number,
    parent,
    file,
    offset,
    bytes,
    moved,
    result,
    argument,
    error,
    duration_exponent,
    duration_mantissa,
    gap_exponent,
    gap_mantissa,
    wait_exponent,
    wait_mantissa,
    has_contexts,  ///< one number: whether there is a column of them
    context,
    count,
};

inline uint64_t bits(int64_t value) {
    return static_cast<uint64_t>(value);
}

inline uint64_t zigzag(uint64_t difference) {
    const auto value = static_cast<int64_t>(difference);
    return bits(value) << 1 ^ bits(value >> 63);
}

inline uint64_t unzigzag(uint64_t value) {
    return value >> 1 ^ (0 - (value & 1));
}

inline constexpr uint32_t habits = 512;

/// Calls of one function on one file have the same.
inline uint32_t habit_of(const calls::call_record& record) {
    return (record.file * 0x9E3779B1u ^ record.function * 0x85EBCA77u) >> 7 & (habits - 1);
}

inline constexpr uint32_t threads = 256;

inline uint32_t thread_of(const calls::call_record& record) {
    return record.thread % threads;
}

/// A column of differences: `expect` says what is likely.
template <class Column>
struct difference_column {
    uint64_t code(const calls::call_record& r) {
        auto& self = static_cast<Column&>(*this);
        return zigzag(Column::get(r) - self.expect(r));
    }
    void decode(calls::call_record& r, uint64_t code) {
        auto& self = static_cast<Column&>(*this);
        Column::set(r, self.expect(r) + unzigzag(code));
    }
};

/// That of the record before.
struct thread_column : difference_column<thread_column> {
    static constexpr column which = column::thread;
    uint64_t last;
    static uint64_t get(const calls::call_record& r) { return r.thread; }
    static void set(calls::call_record& r, uint64_t v) { r.thread = static_cast<uint32_t>(v); }
    [[nodiscard]] uint64_t expect(const calls::call_record&) const { return last; }
    void learn(const calls::call_record& r) { last = r.thread; }
};

struct function_column {
    static constexpr column which = column::function;
    static uint64_t code(const calls::call_record& r) { return r.function; }
    static void decode(calls::call_record& r, uint64_t code) { r.function = static_cast<uint16_t>(code); }
    void learn(const calls::call_record&) {}
};

/// Numbers that a thread's records have left out: those of calls that have not ended yet, the newest last, and of calls
/// that are not recorded.
class open_calls {
  public:
    [[nodiscard]] uint32_t next() const { return newest_ + 1; }
    /// 0: none.
    [[nodiscard]] uint32_t innermost() const { return open_[depth_ % most]; }

    void learn(uint32_t number) {
        if (number <= newest_) {  // it ends, and so has all that began after it
            for (uint32_t i = 0; i < most && innermost() >= number; ++i) open_[depth_-- % most] = 0;
            return;
        }
        const uint32_t left_out = number - next();
        for (uint32_t back = left_out < most ? left_out : most; back > 0; --back)
            open_[++depth_ % most] = number - back;
        newest_ = number;
    }

  private:
    static constexpr uint32_t most = 8;
    uint32_t newest_;
    uint32_t depth_;
    uint32_t open_[most];
};

/// The next number of the thread (0), or that of the innermost call that has not ended (1): calls end in another order
/// than they begin when they are nested. Else the distance from the next number.
struct number_column {
    static constexpr column which = column::number;
    open_calls known[threads];
    [[nodiscard]] uint64_t code(const calls::call_record& r) const {
        const open_calls& thread = known[thread_of(r)];
        if (r.number == thread.next()) return 0;
        if (r.number == thread.innermost()) return 1;
        return 2 + zigzag(bits(int64_t{r.number} - int64_t{thread.next()}));
    }
    void decode(calls::call_record& r, uint64_t code) const {
        const open_calls& thread = known[thread_of(r)];
        r.number = code == 0   ? thread.next()
                   : code == 1 ? thread.innermost()
                               : static_cast<uint32_t>(thread.next() + unzigzag(code - 2));
    }
    void learn(const calls::call_record& r) { known[thread_of(r)].learn(r.number); }
};

/// That of the thread's last call (0), none (1), that of the calls before the last ones (2), else the distance.
struct parent_column {
    static constexpr column which = column::parent;
    uint32_t last[threads];
    uint32_t before[threads];
    [[nodiscard]] uint64_t code(const calls::call_record& r) const {
        const uint32_t thread = thread_of(r);
        if (r.parent == last[thread]) return 0;
        if (r.parent == 0) return 1;
        if (r.parent == before[thread]) return 2;
        return 3 + zigzag(bits(int64_t{r.number} - int64_t{r.parent}));
    }
    void decode(calls::call_record& r, uint64_t code) const {
        const uint32_t thread = thread_of(r);
        r.parent = code == 0   ? last[thread]
                   : code == 1 ? 0
                   : code == 2 ? before[thread]
                               : static_cast<uint32_t>(r.number - unzigzag(code - 3));
    }
    void learn(const calls::call_record& r) {
        const uint32_t thread = thread_of(r);
        if (r.parent == last[thread]) return;
        before[thread] = last[thread];
        last[thread] = r.parent;
    }
};

/// That of the record before (0), or of the function's last call (1), or the distance from the newest: ids follow one
/// another.
struct file_column {
    static constexpr column which = column::file;
    static constexpr uint32_t functions = 1024;
    uint32_t last;
    uint32_t newest;
    uint32_t last_of[functions];
    [[nodiscard]] uint64_t code(const calls::call_record& r) const {
        if (r.file == last) return 0;
        if (r.file == last_of[r.function % functions]) return 1;
        return r.file > newest ? 2 * uint64_t{r.file - newest} : 3 + 2 * uint64_t{newest - r.file};
    }
    void decode(calls::call_record& r, uint64_t code) const {
        const uint64_t file = code == 0       ? last
                              : code == 1     ? last_of[r.function % functions]
                              : code % 2 == 0 ? newest + code / 2
                                              : newest - (code - 3) / 2;
        r.file = static_cast<uint32_t>(file);
    }
    void learn(const calls::call_record& r) {
        last = last_of[r.function % functions] = r.file;
        if (r.file > newest) newest = r.file;
    }
};

/// The same stride again.
struct offset_column : difference_column<offset_column> {
    static constexpr column which = column::offset;
    struct {
        uint64_t offset;
        uint64_t stride;
    } known[habits];
    static uint64_t get(const calls::call_record& r) { return bits(r.offset); }
    static void set(calls::call_record& r, uint64_t v) { r.offset = static_cast<int64_t>(v); }
    [[nodiscard]] uint64_t expect(const calls::call_record& r) const {
        return known[habit_of(r)].offset + known[habit_of(r)].stride;
    }
    void learn(const calls::call_record& r) {
        auto& habit = known[habit_of(r)];
        habit.stride = bits(r.offset) - habit.offset;
        habit.offset = bits(r.offset);
    }
};

struct bytes_column : difference_column<bytes_column> {
    static constexpr column which = column::bytes;
    uint64_t known[habits];
    static uint64_t get(const calls::call_record& r) { return bits(r.bytes); }
    static void set(calls::call_record& r, uint64_t v) { r.bytes = static_cast<int64_t>(v); }
    [[nodiscard]] uint64_t expect(const calls::call_record& r) const { return known[habit_of(r)]; }
    void learn(const calls::call_record& r) { known[habit_of(r)] = bits(r.bytes); }
};

/// What was asked, where such calls move something.
struct moved_column : difference_column<moved_column> {
    static constexpr column which = column::moved;
    bool moves[habits];
    static uint64_t get(const calls::call_record& r) { return bits(r.moved); }
    static void set(calls::call_record& r, uint64_t v) { r.moved = static_cast<int64_t>(v); }
    [[nodiscard]] uint64_t expect(const calls::call_record& r) const {
        return moves[habit_of(r)] ? bits(r.bytes) : bits(calls::none);
    }
    void learn(const calls::call_record& r) { moves[habit_of(r)] = r.moved != calls::none; }
};

/// What was moved, or else as many items of the last size as were asked for (fwrite), or else what it was last time.
struct result_column : difference_column<result_column> {
    static constexpr column which = column::result;
    struct {
        uint64_t result;
        uint64_t item_bytes;
    } known[habits];
    static uint64_t get(const calls::call_record& r) { return bits(r.result); }
    static void set(calls::call_record& r, uint64_t v) { r.result = static_cast<int64_t>(v); }
    [[nodiscard]] uint64_t expect(const calls::call_record& r) const {
        if (r.moved != calls::none) return bits(r.moved);
        const auto& habit = known[habit_of(r)];
        return r.bytes == calls::none || habit.item_bytes == 0 ? habit.result : bits(r.bytes) / habit.item_bytes;
    }
    void learn(const calls::call_record& r) {
        auto& habit = known[habit_of(r)];
        habit.result = bits(r.result);
        habit.item_bytes = r.bytes > 0 && r.result > 0 && r.bytes % r.result == 0 ? bits(r.bytes / r.result) : 0;
    }
};

struct argument_column : difference_column<argument_column> {
    static constexpr column which = column::argument;
    uint64_t known[habits];
    static uint64_t get(const calls::call_record& r) { return bits(r.argument); }
    static void set(calls::call_record& r, uint64_t v) { r.argument = static_cast<int64_t>(v); }
    [[nodiscard]] uint64_t expect(const calls::call_record& r) const { return known[habit_of(r)]; }
    void learn(const calls::call_record& r) { known[habit_of(r)] = bits(r.argument); }
};

struct error_column {
    static constexpr column which = column::error;
    static uint64_t code(const calls::call_record& r) { return r.error; }
    static void decode(calls::call_record& r, uint64_t code) { r.error = static_cast<uint16_t>(code); }
    void learn(const calls::call_record&) {}
};

/// What followed the thread's last context before, in a call of this function (0), or one of those that were seen last,
/// the newest first, or else the context itself.
struct context_column {
    static constexpr column which = column::context;
    static constexpr uint32_t ways = 4096;
    static constexpr uint32_t recent = 16;
    uint32_t last[threads];
    uint32_t next[ways];
    uint32_t seen[recent];

    [[nodiscard]] uint32_t way(const calls::call_record& r) const {
        return (last[thread_of(r)] * 0x9E3779B1u ^ r.function * 0x85EBCA77u) >> 7 & (ways - 1);
    }
    [[nodiscard]] uint64_t code(const calls::call_record& r) const {
        if (r.context == next[way(r)]) return 0;
        for (uint32_t i = 0; i < recent; ++i) {
            if (r.context == seen[i]) return 1 + i;
        }
        return 1 + recent + uint64_t{r.context};
    }
    void decode(calls::call_record& r, uint64_t code) const {
        r.context = code == 0        ? next[way(r)]
                    : code <= recent ? seen[code - 1]
                                     : static_cast<uint32_t>(code - 1 - recent);
    }
    void learn(const calls::call_record& r) {
        next[way(r)] = r.context;
        if (r.context == 0) return;
        last[thread_of(r)] = r.context;
        uint32_t place = 0;
        while (place + 1 < recent && seen[place] != r.context) ++place;
        for (; place > 0; --place) seen[place] = seen[place - 1];
        seen[0] = r.context;
    }
};

}  // namespace halcyon::observe::trace
