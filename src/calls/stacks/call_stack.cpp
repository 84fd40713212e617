#include "calls/stacks/call_stack.hpp"

#include <atomic>

#include "calls/stacks/frame_rule.hpp"
#include "calls/stacks/loaded_object.hpp"
#include "calls/stacks/walked_stacks.hpp"

namespace halcyon::calls {
namespace {

/// What was read of the unwind tables: at which address which rule. A place is taken once and for all by its address,
/// with one exchange; its rule is stored whole, by whoever read it, with the number of the state of loaded objects
/// (unloaded_objects) that it is of. One of another state is read anew.
struct known_rule {
    std::atomic<uintptr_t> code;
    std::atomic<uint64_t> rule;  // packed; 0: not there yet
};
constexpr size_t known_rules = 16384;
constexpr size_t probes = 8;
constinit known_rule rules[known_rules] = {};
constinit std::atomic<uint32_t> unloaded{0};

// Of our own library; nothing where we are a part of the program.
constinit uintptr_t own_begin = 0;
constinit uintptr_t own_bytes = 0;

// Frames of more are walked no further: 256 MiB.
constexpr int64_t largest_frame = int64_t{1} << 28;

// 26 bits of offset in units of 8 and its sign, 13 of bp_offset, 2 each of the rest, 1 that it is there, 20 of the
// state, which has no more.
constexpr uint32_t state_mask = (1u << 20) - 1;

uint64_t packed(const frame_rule& rule, uint32_t state) {
    const auto offset = static_cast<uint32_t>(rule.offset / 8) & 0x3FFFFFF;
    const auto bp_offset = static_cast<uint32_t>(rule.bp_offset / 8) & 0x1FFF;
    return uint64_t{1} | static_cast<uint64_t>(rule.from) << 1 | static_cast<uint64_t>(rule.bp) << 3 |
           uint64_t{bp_offset} << 5 | uint64_t{offset} << 18 | uint64_t{state} << 44;
}

frame_rule unpacked(uint64_t word) {
    const auto offset = static_cast<int32_t>(static_cast<uint32_t>(word >> 18) << 6) >> 6;
    const auto bp_offset = static_cast<int32_t>(static_cast<uint32_t>(word >> 5) << 19) >> 19;
    return {offset * 8, static_cast<int16_t>(bp_offset * 8), static_cast<frame_rule::origin>(word >> 1 & 3),
            static_cast<frame_rule::saved>(word >> 3 & 3)};
}

bool can_be_packed(const frame_rule& rule) {
    return rule.offset % 8 == 0 && rule.bp_offset % 8 == 0 && rule.offset > -largest_frame &&
           rule.offset < largest_frame;
}

[[gnu::noinline]] frame_rule read_and_keep(uintptr_t code, known_rule* place, uint32_t state) {
    frame_rule rule = read_frame_rule(code);
    if (!can_be_packed(rule)) rule = {};
    if (place != nullptr) place->rule.store(packed(rule, state), std::memory_order_release);
    return rule;
}

inline frame_rule rule_at(uintptr_t code, uint32_t state) {
    const size_t first = code * 0x9E3779B97F4A7C15u >> 32;
    for (size_t probe = 0; probe < probes; ++probe) {
        known_rule& place = rules[(first + probe) % known_rules];
        uintptr_t held = place.code.load(std::memory_order_relaxed);
        if (held == 0 && place.code.compare_exchange_strong(held, code, std::memory_order_relaxed)) held = code;
        if (held != code) continue;
        const uint64_t rule = place.rule.load(std::memory_order_acquire);
        if (rule != 0 && rule >> 44 == state) [[likely]]
            return unpacked(rule);
        return read_and_keep(code, &place, state);
    }
    return read_and_keep(code, nullptr, state);
}

/// What a walk knows of the frame that it has come to, beginning with registers.
struct frame {
    uintptr_t code = 0;
    uintptr_t sp = 0;
    uintptr_t bp = 0;
    uintptr_t bp_from = 0;  // where it was saved; 0: it is the register's
    bool bp_used = false;
};

uintptr_t word_at(uintptr_t address) {
    return *reinterpret_cast<const uintptr_t*>(address);
}

/// The frame pointer, of which notes are only taken where the way depends on it: in other functions it is a register
/// like others, and different each time.
uintptr_t frame_pointer(frame& at, walked_stacks::notes& read) {
    if (!at.bp_used && at.bp_from == 0) read.frame_pointer(at.bp);
    if (!at.bp_used && at.bp_from != 0) read.word(at.bp_from, at.bp);
    at.bp_used = true;
    return at.bp;
}

__attribute__((no_sanitize("address", "thread"))) inline void restore_frame_pointer(frame& at, uintptr_t from) {
    at.bp = word_at(from);
    at.bp_from = from;
    at.bp_used = false;
}

/// To the caller; false where the walk ends.
__attribute__((no_sanitize("address", "thread"))) inline bool step(frame& at, const frame_rule& rule,
                                                                   walked_stacks::notes& read) {
    uintptr_t cfa = 0;
    switch (rule.from) {
        case frame_rule::origin::end:
            return false;
        case frame_rule::origin::from_sp:
            cfa = at.sp + rule.offset;
            break;
        case frame_rule::origin::from_bp:
            cfa = frame_pointer(at, read) + rule.offset;
            break;
        case frame_rule::origin::deref_bp: {
            const uintptr_t saved = frame_pointer(at, read) + rule.offset;
            // Stacks grow down: what lies below is no frame's.
            if (at.bp - at.sp >= static_cast<uintptr_t>(largest_frame)) return false;
            cfa = word_at(saved);
            read.word(saved, cfa);
            break;
        }
    }
    const uintptr_t size = cfa - at.sp;
    if (size == 0 || size >= static_cast<uintptr_t>(largest_frame) || cfa % sizeof(uintptr_t) != 0) return false;
    switch (rule.bp) {
        case frame_rule::saved::same:
            break;
        case frame_rule::saved::at_cfa:
            restore_frame_pointer(at, cfa + rule.bp_offset);
            break;
        case frame_rule::saved::at_bp:
            restore_frame_pointer(at, frame_pointer(at, read) + rule.bp_offset);
            break;
        case frame_rule::saved::lost:
            at.bp = 0;
            at.bp_used = true;
            break;
    }
    at.code = word_at(cfa - sizeof(uintptr_t));
    read.word(cfa - sizeof(uintptr_t), at.code);
    at.sp = cfa;
    return at.code != 0;
}

/// Ways are kept of walks for the hash alone, since only those are looked for.
[[gnu::noinline]] void walk_from(frame at, uint32_t state, size_t most, bool keep, call_stack& into) {
    constexpr int longest = 4 * call_stack::most;  // our own frames included
    walked_stacks::notes read(at.sp, state);
    uint64_t hash = 0x9E3779B97F4A7C15u ^ state;
    into.count = 0;
    for (int steps = 0; steps < longest && into.count < most; ++steps) {
        // A return address may be the begin of the function behind one that never returns.
        const frame_rule rule = rule_at(steps == 0 ? at.code : at.code - 1, state);
        if (!step(at, rule, read)) break;
        if (at.code - own_begin < own_bytes) continue;
        into.frames[into.count++] = at.code;
        hash = (hash ^ at.code) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
    }
    into.hash = into.count == 0 ? 0 : hash | 1;
    if (into.count > 0 && keep) read.keep(into.hash);
}

/// Apart, because of the room that it needs: stacks may be small.
[[gnu::noinline]] uint64_t hash_by_walk(const frame& at, uint32_t state) {
    call_stack unasked;
    walk_from(at, state, call_stack::most, true, unasked);
    return unasked.hash;
}

/// The hash of the stack, beginning with this very function, whose frame is ours. `into`: null where the frames are not
/// asked for.
[[gnu::noinline]] uint64_t walk(call_stack* into, size_t most) {
#if defined(__x86_64__)
    frame at;
    __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2" : "=r"(at.code), "=r"(at.sp), "=r"(at.bp));
    const uint32_t state = unloaded.load(std::memory_order_acquire) & state_mask;
    uint64_t hash = 0;
    if (into != nullptr) {
        walk_from(at, state, most, false, *into);
        hash = into->hash;
    } else if (hash = walked_stacks::hash_of(at.sp, at.bp, state); hash == 0) [[unlikely]] {
        hash = hash_by_walk(at, state);
    }
    __asm__ volatile("" : "+r"(hash));  // no jump instead of a call: the walk needs this frame
    return hash;
#else
    (void)most;
    if (into != nullptr) into->count = 0, into->hash = 0;
    return 0;
#endif
}

}  // namespace

void prepare_call_stacks() {
    loaded_object own{};
    if (!find_loaded_object(reinterpret_cast<uintptr_t>(&prepare_call_stacks), own) || *own.path == '\0') return;
    own_begin = own.begin;
    own_bytes = own.end - own.begin;
}

uint64_t call_stack_hash() {
    return walk(nullptr, call_stack::most);
}

void walk_call_stack(call_stack& into) {
    walk(&into, call_stack::most);
}

void walk_to_call_site(call_stack& into) {
    walk(&into, 1);
}

void forget_frame_rules() {
    unloaded.fetch_add(1, std::memory_order_acq_rel);
}

uint32_t unloaded_objects() {
    return unloaded.load(std::memory_order_acquire);
}

}  // namespace halcyon::calls
