#include "calls/stacks/frame_rule.hpp"

#include <cstddef>
#include <cstring>
#include <limits>

#include "calls/stacks/loaded_object.hpp"

// The tables are those of the Linux Standard Base (Core, Generic part, 10.6: .eh_frame and .eh_frame_hdr), whose
// instructions are those of DWARF 5, 6.4.2.
namespace halcyon::calls {
namespace {

// Of x86-64's psABI, figure 3.36.
constexpr uint64_t frame_pointer = 6;
constexpr uint64_t stack_pointer = 7;
constexpr uint64_t return_address = 16;
constexpr int64_t usual_return_address_at = -8;

/// How pointers in the tables are written: a form, and what it counts from.
enum pointer_encoding : uint8_t {
    absolute = 0x00,
    udata4 = 0x03,
    udata8 = 0x04,
    sdata4 = 0x0B,
    sdata8 = 0x0C,
    form = 0x0F,
    from_here = 0x10,
    from_what = 0x70,
    index_of_sdata4 = 0x3B,  // counted from the index' own begin
};

/// Walks through bytes of a table. What reads behind `end` gets zeros and finds `bad` set.
class table_bytes {
  public:
    table_bytes(const unsigned char* at, const unsigned char* end) : at_(at), end_(end) {}

    [[nodiscard]] bool more() const { return at_ < end_ && !bad; }
    [[nodiscard]] const unsigned char* here() const { return at_; }
    [[nodiscard]] const unsigned char* end() const { return end_; }

    template <class Value>
    Value take() {
        Value value{};
        if (const unsigned char* from = step(sizeof value)) std::memcpy(&value, from, sizeof value);
        return value;
    }
    uint64_t unsigned_leb() {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = take<uint8_t>();
            value |= uint64_t{byte & 0x7Fu} << shift;
            if ((byte & 0x80) == 0) return value;
        }
        bad = true;
        return 0;
    }
    int64_t signed_leb() {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = take<uint8_t>();
            value |= uint64_t{byte & 0x7Fu} << shift;
            if ((byte & 0x80) != 0) continue;
            if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
            return static_cast<int64_t>(value);
        }
        bad = true;
        return 0;
    }
    uint64_t pointer(uint8_t encoding) {
        const auto place = reinterpret_cast<uint64_t>(at_);
        uint64_t value = 0;
        switch (encoding & form) {
            case udata4:
                value = take<uint32_t>();
                break;
            case sdata4:
                value = static_cast<uint64_t>(int64_t{take<int32_t>()});
                break;
            case absolute:
            case udata8:
            case sdata8:
                value = take<uint64_t>();
                break;
            default:
                bad = true;
        }
        if ((encoding & from_what) == from_here) return value + place;
        if ((encoding & from_what) != 0) bad = true;
        return value;
    }
    void skip(uint64_t bytes) { step(bytes); }

    bool bad = false;

  private:
    const unsigned char* step(uint64_t bytes) {
        if (bytes > static_cast<uint64_t>(end_ - at_)) {
            bad = true;
            at_ = end_;
            return nullptr;
        }
        const unsigned char* from = at_;
        at_ += bytes;
        return from;
    }

    const unsigned char* at_;
    const unsigned char* end_;
};

/// What follows the length at the begin of an entry; nothing for one that is the end, or of more than 4 GiB.
table_bytes entry_at(const unsigned char* begin) {
    uint32_t bytes = 0;
    std::memcpy(&bytes, begin, sizeof bytes);
    const unsigned char* first = begin + sizeof bytes;
    return bytes >= 0xFFFFFFF0u ? table_bytes(first, first) : table_bytes(first, first + bytes);
}

/// What the functions of a table's part have in common.
struct common_entry {
    uint64_t code_unit = 1;
    int64_t data_unit = 1;
    uint8_t encoding = absolute;
    bool augmented = false;
    bool of_signal = false;
    bool bad = false;
    table_bytes instructions{nullptr, nullptr};
};

common_entry read_common(const unsigned char* begin) {
    common_entry found;
    table_bytes bytes = entry_at(begin);
    bytes.skip(sizeof(uint32_t));
    const auto version = bytes.take<uint8_t>();
    const auto* augmentation = reinterpret_cast<const char*>(bytes.here());
    while (bytes.more() && bytes.take<char>() != '\0') continue;
    found.code_unit = bytes.unsigned_leb();
    found.data_unit = bytes.signed_leb();
    const uint64_t returns_by = version == 1 ? bytes.take<uint8_t>() : bytes.unsigned_leb();
    found.bad = bytes.bad || returns_by != return_address;
    if (found.bad || *augmentation == '\0') {
        found.instructions = bytes;
        return found;
    }
    found.augmented = *augmentation == 'z';
    found.bad = !found.augmented;
    if (found.bad) return found;
    const uint64_t size = bytes.unsigned_leb();
    table_bytes values = bytes;
    bytes.skip(size);
    while (*++augmentation != '\0') {
        if (*augmentation == 'R')
            found.encoding = values.take<uint8_t>();
        else if (*augmentation == 'P')
            values.pointer(values.take<uint8_t>() & form);
        else if (*augmentation == 'L')
            values.skip(1);
        else if (*augmentation == 'S')
            found.of_signal = true;
        else
            break;
    }
    found.instructions = bytes;
    found.bad = bytes.bad || values.bad;
    return found;
}

/// A rule while its instructions are followed.
struct wide_rule {
    bool understood = true;
    frame_rule::origin from = frame_rule::origin::end;
    int64_t offset = 0;
    frame_rule::saved bp = frame_rule::saved::same;
    int64_t bp_offset = 0;
    bool returns = true;  // the return address lies where calls put it

    void frame_is_at(uint64_t base, int64_t distance) {
        understood = base == stack_pointer || base == frame_pointer;
        from = base == stack_pointer ? frame_rule::origin::from_sp : frame_rule::origin::from_bp;
        offset = distance;
    }
    void register_is(uint64_t which, frame_rule::saved where, int64_t distance) {
        if (which == frame_pointer) {
            bp = where;
            bp_offset = distance;
        }
        if (which == return_address)
            returns = where == frame_rule::saved::at_cfa && distance == usual_return_address_at;
    }
};

enum instruction : uint8_t {
    nop = 0x00,
    set_loc = 0x01,
    advance_loc1 = 0x02,
    advance_loc2 = 0x03,
    advance_loc4 = 0x04,
    offset_extended = 0x05,
    restore_extended = 0x06,
    undefined = 0x07,
    same_value = 0x08,
    in_register = 0x09,
    remember_state = 0x0A,
    restore_state = 0x0B,
    def_cfa = 0x0C,
    def_cfa_register = 0x0D,
    def_cfa_offset = 0x0E,
    def_cfa_expression = 0x0F,
    expression = 0x10,
    offset_extended_sf = 0x11,
    def_cfa_sf = 0x12,
    def_cfa_offset_sf = 0x13,
    val_offset = 0x14,
    val_offset_sf = 0x15,
    val_expression = 0x16,
    gnu_args_size = 0x2E,
    advance_loc = 0x40,
    offset = 0x80,
    restore = 0xC0,
};

constexpr uint8_t breg_of_frame_pointer = 0x70 + frame_pointer;
constexpr uint8_t deref = 0x06;

/// Follows a function's instructions up to one place of its code.
class rule_machine {
  public:
    rule_machine(const common_entry& common, uint64_t begin, uint64_t wanted)
        : common_(common), location_(begin), wanted_(wanted) {}

    wide_rule rule;

    /// The function's own begin where those of its common entry end.
    void take_as_initial() { initial_ = rule; }

    /// False where they cannot be followed.
    bool follow(table_bytes bytes) {
        while (bytes.more() && location_ <= wanted_) {
            const auto code = bytes.take<uint8_t>();
            const bool known = (code & 0xC0) != 0 ? short_one(code, bytes) : long_one(code, bytes);
            if (!known || bytes.bad) return false;
        }
        return !bytes.bad;
    }

  private:
    bool advance(uint64_t units) {
        location_ += units * common_.code_unit;
        return true;
    }

    bool restored(uint64_t which) {
        if (which == frame_pointer) {
            rule.bp = initial_.bp;
            rule.bp_offset = initial_.bp_offset;
        }
        if (which == return_address) rule.returns = initial_.returns;
        return true;
    }

    bool saved_at_cfa(uint64_t which, int64_t units) {
        rule.register_is(which, frame_rule::saved::at_cfa, units * common_.data_unit);
        return true;
    }

    bool lost(uint64_t which) {
        rule.register_is(which, frame_rule::saved::lost, 0);
        return true;
    }

    bool short_one(uint8_t code, table_bytes& bytes) {
        const uint64_t low = code & 0x3Fu;
        switch (code & 0xC0) {
            case advance_loc:
                return advance(low);
            case offset:
                return saved_at_cfa(low, static_cast<int64_t>(bytes.unsigned_leb()));
            default:
                return restored(low);
        }
    }

    bool long_one(uint8_t code, table_bytes& bytes) {
        switch (code) {
            case nop:
                return true;
            case set_loc:
                location_ = bytes.pointer(common_.encoding);
                return true;
            case advance_loc1:
                return advance(bytes.take<uint8_t>());
            case advance_loc2:
                return advance(bytes.take<uint16_t>());
            case advance_loc4:
                return advance(bytes.take<uint32_t>());
            case remember_state:
                if (depth_ == most_remembered) return false;
                remembered_[depth_++] = rule;
                return true;
            case restore_state:
                if (depth_ == 0) return false;
                rule = remembered_[--depth_];
                return true;
            case gnu_args_size:
                bytes.unsigned_leb();
                return true;
            case def_cfa:
            case def_cfa_sf:
            case def_cfa_register:
            case def_cfa_offset:
            case def_cfa_offset_sf:
            case def_cfa_expression:
                return of_frame(code, bytes);
            default:
                return of_register(code, bytes);
        }
    }

    bool of_frame(uint8_t code, table_bytes& bytes) {
        switch (code) {
            case def_cfa: {
                const uint64_t base = bytes.unsigned_leb();
                rule.frame_is_at(base, static_cast<int64_t>(bytes.unsigned_leb()));
                return true;
            }
            case def_cfa_sf: {
                const uint64_t base = bytes.unsigned_leb();
                rule.frame_is_at(base, bytes.signed_leb() * common_.data_unit);
                return true;
            }
            case def_cfa_register:
                rule.frame_is_at(bytes.unsigned_leb(), rule.offset);
                return true;
            case def_cfa_offset:
                rule.offset = static_cast<int64_t>(bytes.unsigned_leb());
                return true;
            case def_cfa_offset_sf:
                rule.offset = bytes.signed_leb() * common_.data_unit;
                return true;
            default:
                return frame_by_expression(bytes);
        }
    }

    /// Of a function that aligns its stack: what lies at a distance from the frame pointer.
    bool frame_by_expression(table_bytes& bytes) {
        table_bytes program = taken(bytes);
        rule.understood = program.take<uint8_t>() == breg_of_frame_pointer;
        rule.from = frame_rule::origin::deref_bp;
        rule.offset = program.signed_leb();
        rule.understood = rule.understood && program.take<uint8_t>() == deref && !program.more() && !program.bad;
        return true;
    }

    bool of_register(uint8_t code, table_bytes& bytes) {
        const uint64_t which = bytes.unsigned_leb();
        switch (code) {
            case offset_extended:
                return saved_at_cfa(which, static_cast<int64_t>(bytes.unsigned_leb()));
            case offset_extended_sf:
                return saved_at_cfa(which, bytes.signed_leb());
            case restore_extended:
                return restored(which);
            case same_value:
                rule.register_is(which, frame_rule::saved::same, 0);
                return true;
            case undefined:
                return lost(which);
            case in_register:
            case val_offset:
                bytes.unsigned_leb();
                return lost(which);
            case val_offset_sf:
                bytes.signed_leb();
                return lost(which);
            case expression:
                return register_by_expression(which, taken(bytes));
            case val_expression:
                taken(bytes);
                return lost(which);
            default:
                return false;
        }
    }

    bool register_by_expression(uint64_t which, table_bytes program) {
        const bool at_bp = program.take<uint8_t>() == breg_of_frame_pointer;
        const int64_t distance = program.signed_leb();
        if (!at_bp || program.more() || program.bad) return lost(which);
        rule.register_is(which, frame_rule::saved::at_bp, distance);
        return true;
    }

    static table_bytes taken(table_bytes& bytes) {
        const uint64_t size = bytes.unsigned_leb();
        const unsigned char* begin = bytes.here();
        bytes.skip(size);
        return {begin, bytes.here()};
    }

    static constexpr size_t most_remembered = 8;
    const common_entry& common_;
    uint64_t location_;
    uint64_t wanted_;
    wide_rule initial_;
    wide_rule remembered_[most_remembered];
    size_t depth_ = 0;
};

/// A place of the index: both are distances from the index' own begin.
struct index_place {
    int32_t code;
    int32_t entry;
};

/// The entry of the last function that begins at or before `code`; null: the index is of another form, or there is
/// none.
const unsigned char* entry_of_code(uintptr_t code, const unsigned char* index) {
    constexpr uint8_t version = 1;
    if (index[0] != version || index[2] != udata4 || index[3] != index_of_sdata4) return nullptr;
    constexpr size_t head = 4;
    table_bytes first(index + head, index + head + 2 * sizeof(uint64_t));
    first.pointer(index[1]);
    const auto count = first.take<uint32_t>();
    if (first.bad || count == 0) return nullptr;
    const auto* places = reinterpret_cast<const index_place*>(first.here());
    const auto distance = static_cast<int64_t>(code - reinterpret_cast<uintptr_t>(index));
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (places[middle].code <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? nullptr : index + places[low - 1].entry;
}

frame_rule packed(const wide_rule& wide) {
    using limits = std::numeric_limits<int16_t>;
    if (!wide.understood || !wide.returns) return {};
    if (wide.offset != static_cast<int32_t>(wide.offset)) return {};
    frame_rule rule{static_cast<int32_t>(wide.offset), static_cast<int16_t>(wide.bp_offset), wide.from, wide.bp};
    if (wide.bp_offset < limits::min() || wide.bp_offset > limits::max()) rule.bp = frame_rule::saved::lost;
    return rule;
}

}  // namespace

frame_rule read_frame_rule(uintptr_t code, const unsigned char* index) {
    if (!reads_unwind_tables || index == nullptr) return {};
    const unsigned char* begin = entry_of_code(code, index);
    if (begin == nullptr) return {};
    table_bytes entry = entry_at(begin);
    const unsigned char* here = entry.here();
    const auto back = entry.take<uint32_t>();
    if (entry.bad || back == 0) return {};
    const common_entry common = read_common(here - back);
    if (common.bad || common.of_signal) return {};
    const uint64_t first = entry.pointer(common.encoding);
    const uint64_t size = entry.pointer(common.encoding & form);
    if (common.augmented) entry.skip(entry.unsigned_leb());
    if (entry.bad || code - first >= size) return {};
    rule_machine machine(common, 0, std::numeric_limits<uint64_t>::max());
    if (!machine.follow(common.instructions)) return {};
    rule_machine of_function(common, first, code);
    of_function.rule = machine.rule;
    of_function.take_as_initial();
    return of_function.follow(entry) ? packed(of_function.rule) : frame_rule{};
}

frame_rule read_frame_rule(uintptr_t code) {
    loaded_object object{};
    return find_loaded_object(code, object) ? read_frame_rule(code, object.frames) : frame_rule{};
}

}  // namespace halcyon::calls
