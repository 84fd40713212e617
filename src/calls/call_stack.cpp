#include "calls/call_stack.hpp"

#include <atomic>

#include "calls/frame_rule.hpp"
#include "calls/loaded_object.hpp"

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
// state.
constexpr uint32_t state_mask = (1u << 20) - 1;

uint64_t packed(const frame_rule& rule, uint32_t state) {
    const auto offset = static_cast<uint32_t>(rule.offset / 8) & 0x3FFFFFF;
    const auto bp_offset = static_cast<uint32_t>(rule.bp_offset / 8) & 0x1FFF;
    return uint64_t{1} | static_cast<uint64_t>(rule.from) << 1 | static_cast<uint64_t>(rule.bp) << 3 |
           uint64_t{bp_offset} << 5 | uint64_t{offset} << 18 | uint64_t{state & state_mask} << 44;
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
        if (rule != 0 && rule >> 44 == (state & state_mask)) [[likely]]
            return unpacked(rule);
        return read_and_keep(code, &place, state);
    }
    return read_and_keep(code, nullptr, state);
}

struct frame {
    uintptr_t code;
    uintptr_t sp;
    uintptr_t bp;
};

uintptr_t word_at(uintptr_t address) {
    return *reinterpret_cast<const uintptr_t*>(address);
}

/// To the caller; false where the walk ends.
__attribute__((no_sanitize("address", "thread"))) inline bool step(frame& at, const frame_rule& rule) {
    uintptr_t cfa = 0;
    switch (rule.from) {
        case frame_rule::origin::end:
            return false;
        case frame_rule::origin::from_sp:
            cfa = at.sp + rule.offset;
            break;
        case frame_rule::origin::from_bp:
            cfa = at.bp + rule.offset;
            break;
        case frame_rule::origin::deref_bp:
            // Stacks grow down: what lies below is no frame's.
            if (at.bp - at.sp >= static_cast<uintptr_t>(largest_frame)) return false;
            cfa = word_at(at.bp + rule.offset);
            break;
    }
    const uintptr_t size = cfa - at.sp;
    if (size == 0 || size >= static_cast<uintptr_t>(largest_frame) || cfa % sizeof(uintptr_t) != 0) return false;
    switch (rule.bp) {
        case frame_rule::saved::same:
            break;
        case frame_rule::saved::at_cfa:
            at.bp = word_at(cfa + rule.bp_offset);
            break;
        case frame_rule::saved::at_bp:
            at.bp = word_at(at.bp + rule.bp_offset);
            break;
        case frame_rule::saved::lost:
            at.bp = 0;
            break;
    }
    at.code = word_at(cfa - sizeof(uintptr_t));
    at.sp = cfa;
    return at.code != 0;
}

/// Beginning with this very function, whose frame is ours.
[[gnu::noinline]] void walk(call_stack& into, size_t most) {
    constexpr int longest = 4 * call_stack::most;  // our own frames included
    into.count = 0;
    into.hash = 0;
#if defined(__x86_64__)
    frame at{};
    __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2" : "=r"(at.code), "=r"(at.sp), "=r"(at.bp));
    const uint32_t state = unloaded.load(std::memory_order_acquire);
    uint64_t hash = 0x9E3779B97F4A7C15u ^ state;
    for (int steps = 0; steps < longest && into.count < most; ++steps) {
        // A return address may be the begin of the function behind one that never returns.
        const frame_rule rule = rule_at(steps == 0 ? at.code : at.code - 1, state);
        if (!step(at, rule)) break;
        if (at.code - own_begin < own_bytes) continue;
        into.frames[into.count++] = at.code;
        hash = (hash ^ at.code) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
    }
    into.hash = hash;
#else
    (void)most;
    (void)longest;
#endif
}

}  // namespace

void prepare_call_stacks() {
    loaded_object own{};
    if (!find_loaded_object(reinterpret_cast<uintptr_t>(&prepare_call_stacks), own) || *own.path == '\0') return;
    own_begin = own.begin;
    own_bytes = own.end - own.begin;
}

void walk_call_stack(call_stack& into) {
    walk(into, call_stack::most);
}

void walk_to_call_site(call_stack& into) {
    walk(into, 1);
}

void forget_frame_rules() {
    unloaded.fetch_add(1, std::memory_order_acq_rel);
}

uint32_t unloaded_objects() {
    return unloaded.load(std::memory_order_acquire);
}

}  // namespace halcyon::calls
