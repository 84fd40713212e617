#include "calls/stacks/contexts.hpp"

#include <optional>

#include "calls/record/call_table.hpp"
#include "calls/stacks/call_stack.hpp"
#include "calls/stacks/frame_rule.hpp"
#include "calls/stacks/loaded_object.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/known_files.hpp"

namespace halcyon::calls::contexts {
namespace {

/// A stack as it lies in memory, and its context: what most calls find. `stack` is taken by one exchange; `context` is
/// stored behind it, whole, with the generation of the process in which it was told.
struct seen_stack {
    std::atomic<uint64_t> stack;    // hash of return addresses; 0: free
    std::atomic<uint64_t> context;  // generation in the upper half; 0: not told yet
};

/// A context, near the place that follows from its number: whose it is.
struct named_context {
    std::atomic<uint64_t> stack;  // hash of frames within their objects; 0: free
    std::atomic<uint32_t> id;     // stored behind it; 0: not yet
};

// Twice as many places as stacks, so that call sites of those without room find one, too.
constexpr size_t places = 2 * size_t{most_stacks};
constexpr size_t probes = 64;
struct tables {
    seen_stack seen[places];
    named_context named[places];
};
constinit std::atomic<tables*> all{nullptr};  // mapped when contexts are wanted first; a child of fork has its own
constinit std::atomic<uint32_t> stacks{0};
constinit std::atomic<uint64_t> unkept{0};

/// Whether the layers know a context in this process is said by a seen stack, of which one context may have several.
void tell(uint32_t id, const context_frame* frames, size_t count) {
    this_process().layers.each([&](layer& l) { l.on_context(id, {frames, count}); });
}

uint64_t mixed(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0xFF51AFD7ED558CCDu;
    return hash ^ hash >> 32;
}

uint64_t hash_of(std::string_view text) {
    uint64_t hash = 0x9E3779B97F4A7C15u;
    for (const char character : text) hash = mixed(hash, static_cast<unsigned char>(character));
    return hash;
}

uint64_t hash_of(const context_frame* frames, size_t count) {
    uint64_t hash = 0xC2B2AE3D27D4EB4Fu;
    for (size_t i = 0; i < count; ++i) hash = mixed(mixed(hash, hash_of(frames[i].object)), frames[i].offset);
    return hash == 0 ? 1 : hash;
}

uint32_t natural_number(uint64_t hash) {
    return static_cast<uint32_t>(hash ^ hash >> 32);
}

/// A thread that was stopped between its two stores is not waited for: all but one number in a million is the natural
/// one.
uint32_t number_at(const named_context& place, uint64_t hash) {
    const uint32_t id = place.id.load(std::memory_order_acquire);
    return id != 0 ? id : natural_number(hash);
}

/// The number of the stack with this hash; 0: there is no room for it.
uint32_t number_of(tables& known, uint64_t hash) {
    uint32_t wanted = natural_number(hash);
    if (wanted == 0) ++wanted;
    for (size_t probe = 0; probe < probes;) {
        named_context& place = known.named[(wanted + probe) % places];
        uint64_t held = place.stack.load(std::memory_order_acquire);
        if (held == 0 && place.stack.compare_exchange_strong(held, hash)) {
            place.id.store(wanted, std::memory_order_release);
            return wanted;
        }
        if (number_at(place, held) != wanted) {
            ++probe;
            continue;
        }
        if (held == hash) return wanted;
        if (++wanted == 0) ++wanted;  // it is another stack's
        probe = 0;
    }
    return 0;
}

/// Where frames lie within their objects, asked for the first time that a stack is seen; its number. Layers are told
/// before it is used; more than once where several threads come with it at once.
uint32_t resolve(tables& known, const call_stack& stack) {
    context_frame frames[call_stack::most];
    for (size_t i = 0; i < stack.count; ++i) {
        loaded_object object{};
        // Code that was made while the program runs lies in no object, and elsewhere in each run: all of it is one.
        frames[i] = find_loaded_object(stack.frames[i] - 1, object)
                        ? context_frame{base_name_of(object), stack.frames[i] - object.base}
                        : context_frame{"?", 0};
    }
    const uint32_t id = number_of(known, hash_of(frames, stack.count));
    if (id != 0) tell(id, frames, stack.count);
    return id;
}

/// The place of a stack: its own, or a free one that is its own now; null: there is none.
seen_stack* place_of(tables& known, uint64_t hash, bool may_be_new) {
    for (size_t probe = 0; probe < probes; ++probe) {
        seen_stack& place = known.seen[(hash + probe) % places];
        uint64_t held = place.stack.load(std::memory_order_acquire);
        if (held == hash) return &place;
        if (held != 0) continue;
        if (!may_be_new) return nullptr;
        if (place.stack.compare_exchange_strong(held, hash)) {
            stacks.fetch_add(1, std::memory_order_relaxed);
            return &place;
        }
        if (held == hash) return &place;
    }
    return nullptr;
}

/// The context at the place of a stack, if it was told in this process.
std::optional<uint32_t> told_at(const seen_stack& place) {
    const uint64_t held = place.context.load(std::memory_order_acquire);
    if (held >> 32 != this_process().generation) [[unlikely]]
        return {};
    return static_cast<uint32_t>(held);
}

uint32_t tell_at(tables& known, seen_stack& place, const call_stack& stack) {
    const uint32_t id = resolve(known, stack);
    place.context.store(uint64_t{this_process().generation} << 32 | id, std::memory_order_release);
    return id;
}

[[gnu::noinline]] uint32_t context_of_call_site(tables& known) {
    unkept.fetch_add(1, std::memory_order_relaxed);
    call_stack stack;
    walk_to_call_site(stack);
    seen_stack* const place = stack.count == 0 ? nullptr : place_of(known, stack.hash, true);
    if (place == nullptr) return 0;
    const std::optional<uint32_t> told = told_at(*place);
    return told ? *told : tell_at(known, *place, stack);
}

/// Apart, because of the room that it needs: stacks may be small.
[[gnu::noinline]] uint32_t context_of_new_stack(tables& known, seen_stack& place) {
    call_stack stack;
    walk_call_stack(stack);
    return tell_at(known, place, stack);
}

bool has_context(const function_entry& entry) {
    if (entry.at != level::posix && entry.at != level::stdio) return false;
    switch (entry.does) {
        case kind::open:
        case kind::close:
        case kind::read:
        case kind::write:
        case kind::copy:
        case kind::sync:
            return true;
        default:
            return false;
    }
}

tables* map_tables() {
    if (tables* mapped = all.load()) return mapped;
    auto* fresh = static_cast<tables*>(direct::map_memory(sizeof(tables)));
    all.store(fresh);
    return fresh;
}

void tell_how() {
    constexpr std::string_view value = reads_unwind_tables ? "unwind tables" : "none: written for x86-64 alone";
    this_process().layers.each([&](layer& l) {
        if (l.wants_contexts()) l.on_fact(0, "context.unwinder", value);
    });
}

}  // namespace

void start() {
    process_state& process = this_process();
    bool wanted = false;
    process.layers.each([&](const layer& l) { wanted = wanted || l.wants_contexts(); });
    unkept = 0;
    process.contexts = false;
    if (!wanted) return;
    tell_how();
    if (!reads_unwind_tables || map_tables() == nullptr) return;
    remember_program_name();
    prepare_call_stacks();
    process.contexts = true;
}

uint64_t take_unkept() {
    return unkept.exchange(0);
}

void put_into(call_record& record) {
    if (record.context != 0 || record.file == known_files::ignored || !has_context(entry_of(record.function))) return;
    const uint64_t hash = call_stack_hash();
    if (hash == 0) return;
    tables& known = *all.load(std::memory_order_relaxed);
    seen_stack* const place = place_of(known, hash, stacks.load(std::memory_order_relaxed) < most_stacks);
    if (place == nullptr) {
        record.context = context_of_call_site(known);
    } else {
        const std::optional<uint32_t> told = told_at(*place);
        record.context = told ? *told : context_of_new_stack(known, *place);
    }
}

}  // namespace halcyon::calls::contexts
