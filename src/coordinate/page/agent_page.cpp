#include "coordinate/page/agent_page.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "base/node_identity.hpp"
#include "coordinate/page/held_locks.hpp"
#include "coordinate/page/mount_limits.hpp"
#include "coordinate/page/phase_forecast.hpp"
#include "coordinate/page/process_life.hpp"
#include "coordinate/page/rounds.hpp"
#include "coordinate/protocol/fields.hpp"
#include "coordinate/protocol/plain_text.hpp"

namespace halcyon::coordinate {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr size_t operation_count = operation_names.size();

int64_t nanoseconds(double seconds) {
    return static_cast<int64_t>(seconds * 1e9);
}

/// Of forecasts: no sum is beyond what each of them is bounded by (phase_forecast::read_from), or it may be too large
/// for a number.
int64_t sum_of(int64_t all, int64_t one) {
    return std::min(all + one, phase_forecast::farthest);
}

/// A process may write there what it likes.
int64_t bytes_of(const std::atomic<int64_t>& shared) {
    return std::clamp<int64_t>(shared.load(relaxed), 0, phase_forecast::farthest);
}

void add_next(node_state& all, const phase_forecast& one, int64_t now_ns) {
    if (!one.expects_next(now_ns)) return;
    all.next_bytes = sum_of(all.next_bytes, one.next_bytes);
    const double next = std::max(in_seconds(one.next_in_ns - (now_ns - one.told_ns)), 0.0);
    if (all.next_probability > 0 && next >= all.next_in_s) return;
    all.next_in_s = next;
    all.next_deviation_s = in_seconds(one.next_deviation_ns);
    all.next_alone_s = in_seconds(one.next_alone_ns);
    all.next_probability = one.next_probability;
}

/// Adds up the forecast of one process. `in_step`: what it moved and has not counted yet. Returns what it moved in
/// collective calls of this phase for others, which are not going to move that themselves.
int64_t add_forecast(node_state& all, const process_part& of, int64_t in_step, int64_t now_ns) {
    phase_forecast one = phase_forecast::read_from(of.forecast);
    if (one.told_ns == 0) return 0;
    const bool is_of_phase = of.begun_ns.load(relaxed) <= one.told_ns;
    if (!is_of_phase) one = one.in_next();
    const int64_t moved = sum_of(bytes_of(of.moved), bytes_of(of.unasked)) + in_step;
    all.forecasts = std::max(all.forecasts, in_seconds(one.told_ns));
    all.bytes_left = sum_of(all.bytes_left, one.bytes_left_after(moved));
    all.left_s = std::max(all.left_s, in_seconds(one.left_ns_after(moved, now_ns)));
    add_next(all, one, now_ns);
    const bool aggregates = of.aggregates.load(relaxed) != 0 || of.inside.load(relaxed) != rounds::none;
    return aggregates && is_of_phase ? one.moved_beyond(moved) : 0;
}

/// Bytes and time fall together. What exceeds the forecasts of the node was moved for other nodes: nothing is known of
/// those here.
void take_off(node_state& all, int64_t for_others) {
    if (for_others <= 0 || all.bytes_left <= 0) return;
    const int64_t before = all.bytes_left;
    all.bytes_left = std::max<int64_t>(before - for_others, 0);
    all.left_s *= static_cast<double>(all.bytes_left) / static_cast<double>(before);
}

/// A jump may leave a call that its thread has noted, and not counted yet: the process then counts out one too many.
int64_t calls_of(const std::atomic<uint32_t>& count) {
    return std::max<int64_t>(static_cast<int32_t>(count.load()), 0);
}

/// Of what waits at a process, phases that its program has announced and does not wait for. `asking`: program.asking
/// before `waits` was read. One that comes or goes meanwhile is never taken for a call that is held back.
int64_t announced_by(const program_turns::part& program, int64_t asking, int64_t waits) {
    const int64_t all = std::max(asking, calls_of(program.asking));
    return std::clamp<int64_t>(all - calls_of(program.blocked), 0, waits);
}

/// Whether a process may begin a round that the stop allows: it is in a collective call, under which, or under the one
/// before, it moved bytes, and its next round is below the stop. Or it is held back before such a round, and has not
/// seen yet that it may go on.
bool is_behind(const process_part& part, const program_turns::part& program, uint64_t stop_round) {
    const uint64_t inside = part.inside.load(relaxed);
    if (inside == rounds::none) return false;
    const uint64_t round = std::max(part.round.load(relaxed), inside);
    const bool is_held_back = calls_of(part.waiting) > calls_of(program.asking);
    if (is_held_back) return round > inside && round < stop_round;
    const bool moves = round > inside || part.aggregates.load(relaxed) != 0;
    return moves && round + 1 < stop_round;
}

template <class Number>
void clear(std::atomic<Number>& one) {
    one.store(0, relaxed);
}

void clear(program_turns& one) {
    clear(one.layer);
    clear(one.program);
    clear(one.unlocked_program);
    for (program_turns::part& part : one.at) {
        clear(part.held);
        clear(part.forecasts);
        clear(part.counted_from);
        clear(part.asking);
        clear(part.blocked);
    }
}

void clear(shared_forecast& one) {
    phase_forecast{}.write_to(one);
    clear(one.version);
}

void clear(process_part& one) {
    for (auto* word : {&one.under_way, &one.waiting, &one.operation, &one.aggregates}) clear(*word);
    for (auto* word : {&one.moved, &one.limit, &one.begun_ns, &one.unasked, &one.waited_ns}) clear(*word);
    for (auto* word :
         {&one.round, &one.begun, &one.inside, &one.let_silent, &one.let_starving, &one.let_locks, &one.let_others})
        clear(*word);
    clear(one.forecast);
}

/// The entries of a list are of no use without their number.
void clear(shared_targets& one) {
    for (auto* word : {&one.version, &one.turns, &one.count, &one.told_version}) clear(*word);
    clear(one.moved_before);
    clear(one.moved_within);
}

}  // namespace

result<agent_page> agent_page::create(const settings& wanted) {
    if (auto fits = check_mounts(wanted.mounts); !fits) return fits.why();
    auto memory = shared_memory::create("halcyon-coordinate", sizeof(page), false);
    if (!memory) return memory.why();
    agent_page made;
    made.memory_ = *std::move(memory);
    page& shared = made.shared();
    for (size_t i = 0; i < wanted.mounts.size(); ++i) {
        const std::string& path = wanted.mounts[i];
        path.copy(shared.file_system[i].path, path.size());
        shared.file_system[i].path_bytes = static_cast<uint32_t>(path.size());
    }
    shared.bytes = sizeof(page);
    shared.pid_namespace = pid_namespace();
    shared.time_namespace = time_namespace();
    shared.patience_ns = nanoseconds(wanted.patience_s);
    shared.pause_ns = nanoseconds(wanted.pause_s);
    shared.file_systems = static_cast<uint32_t>(wanted.mounts.size());
    shared.least_burst = wanted.least_burst;
    shared.magic = page::expected_magic;
    made.published_.resize(wanted.mounts.size());
    made.targets_.resize(wanted.mounts.size());
    for (size_t i = 0; i < wanted.mounts.size(); ++i) made.limit_waits(i, wanted.starvation_s);
    return made;
}

void agent_page::publish(size_t file_system, permission to, uint64_t stop_round, std::optional<int64_t> bytes) {
    shared_file_system& one = shared().file_system[file_system];
    if (bytes) {
        one.ring_below.store(*bytes / 2, relaxed);
        one.pool.store(*bytes, std::memory_order_release);
    }
    const auto change = [&](permission state) {
        const uint32_t before = one.turn.load(relaxed), word = turn_word::next(before, state);
        if (turn_word::goes_under_lease(word) && !turn_word::goes_under_lease(before)) one.given.fetch_add(1, relaxed);
        one.turn.store(word, std::memory_order_seq_cst);
        published_[file_system] = word;
    };
    if (to == permission::stop) {
        change(permission::hold);
        one.stop_round.store(stop_round, std::memory_order_release);
    }
    change(to);
    // The fence of process_part's protocol.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    futex_wake(one.turn);
}

bool agent_page::was_replaced(size_t file_system) const {
    return shared().file_system[file_system].turn.load(relaxed) != published_[file_system];
}

void agent_page::tell_wait(size_t file_system, double expected_s, const std::vector<std::string>& holders,
                           int64_t in_phase) {
    shared_file_system& one = shared().file_system[file_system];
    const uint32_t told = one.told.load(relaxed);
    one.told.store(told + 1, relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    one.wait_ns.store(nanoseconds(expected_s), relaxed);
    one.in_phase.store(in_phase, relaxed);
    size_t used = 0;
    for (const std::string& job : holders) {
        if (used + job.size() + 2 > sizeof one.holders) break;
        std::memcpy(one.holders + used, job.data(), job.size());
        used += job.size();
        one.holders[used++] = '\n';
    }
    one.holders[used] = '\0';
    one.told.store(told + 2, std::memory_order_release);
}

void agent_page::tell_no_turn_reason(size_t file_system, const std::string& why) {
    shared_file_system& one = shared().file_system[file_system];
    const std::string_view text = begin_of(why, sizeof one.no_turn_reason - 1);
    if (text == one.no_turn_reason) return;
    const uint32_t version = one.no_turn_reason_version.load(relaxed);
    one.no_turn_reason_version.store(version + 1, relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    text.copy(one.no_turn_reason, text.size());
    one.no_turn_reason[text.size()] = '\0';
    one.no_turn_reason_version.store(version + 2, std::memory_order_release);
}

/// Whoever waits for that sleeps on the turn's word.
void agent_page::tell_targets(size_t file_system, bool are_listed, bool told) {
    shared_file_system& one = shared().file_system[file_system];
    const uint32_t lists = are_listed ? 1 : 0;
    if (one.lists_targets.load(relaxed) != lists) one.lists_targets.store(lists, std::memory_order_release);
    const bool is_news = told && targets_[file_system].tell(shared(), file_system);
    if (!is_news || !are_listed || was_replaced(file_system)) return;
    uint32_t word = published_[file_system];
    const uint32_t again = turn_word::next(word, turn_word::state(word));
    if (!one.turn.compare_exchange_strong(word, again, std::memory_order_seq_cst)) return;
    published_[file_system] = again;
    futex_wake(one.turn);
}

void agent_page::limit_waits(size_t file_system, double longest_s) {
    shared().file_system[file_system].starvation_ns.store(nanoseconds(longest_s), relaxed);
}

void agent_page::tell_others_move(size_t file_system, bool others) {
    std::atomic<uint32_t>& version = shared().file_system[file_system].others_move_version;
    if ((version.load(relaxed) % 2 != 0) != others) version.fetch_add(1);
}

void agent_page::heard(size_t file_system, int64_t now_ns) {
    shared().file_system[file_system].heard_ns.store(now_ns, std::memory_order_release);
}

node_state agent_page::observe(size_t file_system, uint64_t stop_round, int64_t now_ns) const {
    const page& all = shared();
    const shared_file_system& here = all.file_system[file_system];
    node_state found;
    found.pool = here.pool.load(relaxed);
    found.moved = bytes_of(here.past_moved);
    found.unasked = bytes_of(here.past_unasked);
    found.begun = here.past_begun.load(relaxed);
    std::array<int64_t, operation_count> doing{}, did{};
    int64_t for_others = 0;
    observed_targets& targets = targets_[file_system];
    targets.begin();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const uint32_t tried = std::min<uint32_t>(all.tried.load(), page::most_processes);
    for (uint32_t i = 0; i < tried; ++i) {
        const process_slot& slot = all.slots[i];
        if (slot.owner.load(std::memory_order_acquire) == 0) continue;
        const process_part& part = slot.at[file_system];
        ++found.processes;
        found.begun += part.begun.load(relaxed);
        found.moved = sum_of(found.moved, bytes_of(part.moved));
        found.unasked = sum_of(found.unasked, bytes_of(part.unasked));
        if (replaced_.contains(i, slot)) continue;
        int64_t under_way = calls_of(part.under_way);
        const program_turns::part& program = slot.by_itself.at[file_system];
        const int64_t asking = calls_of(program.asking), waits = calls_of(part.waiting);
        if (under_way == 0) under_way = calls_of(part.under_way);  // it may have come back from its wait in between
        found.under_way += under_way;
        found.waiting += waits;
        found.announced += announced_by(program, asking, waits);
        const int64_t in_step = moved_in_step_.of(i, slot, file_system, now_ns);
        (under_way > 0 ? found.moved : found.unasked) += in_step;
        found.round = std::max(found.round, part.round.load());
        found.behind += is_behind(part, program, stop_round) ? 1 : 0;
        const size_t what = std::min<size_t>(part.operation.load(relaxed), operation_count - 1);
        ++did[what];
        if (under_way + waits > 0) ++found.active, ++doing[what];
        for_others += add_forecast(found, part, in_step, now_ns);
        targets.look(i, slot, file_system);
    }
    found.targets = targets.end();
    take_off(found, for_others);
    const auto& counted = found.active > 0 ? doing : did;
    found.operation = static_cast<operation>(std::max_element(counted.begin(), counted.end()) - counted.begin());
    return found;
}

size_t agent_page::free_dead(const std::function<void(const process_slot&)>& untold) {
    page& all = shared();
    size_t freed = 0;
    const uint32_t tried = std::min<uint32_t>(all.tried.load(), page::most_processes);
    for (uint32_t i = 0; i < tried; ++i) {
        process_slot& slot = all.slots[i];
        const uint64_t owner = slot.owner.load(std::memory_order_acquire);
        if (owner == 0) continue;
        const process_life now = life_of_process(process_slot::pid_of(owner));
        const uint32_t known = process_slot::start_of(owner);  // 0: the process could not ask
        const bool is_another = now.start != 0 && known != 0 && static_cast<uint32_t>(now.start) != known;
        if (!now.is_dead && !is_another) {
            const uint64_t counts = slot.by_itself.program.load(std::memory_order_acquire);
            replaced_.look(i, slot, now);
            if (replaced_.contains(i, slot)) held_locks::look_behind_exec(slot, counts);
            continue;
        }
        if (untold && slot.told.load() != process_slot::itself) untold(slot);
        for (size_t at = 0; at < file_systems(); ++at) {
            shared_file_system& here = all.file_system[at];
            process_part& part = slot.at[at];
            here.past_moved.fetch_add(bytes_of(part.moved), relaxed);
            here.past_unasked.fetch_add(bytes_of(part.unasked), relaxed);
            here.past_begun.fetch_add(part.begun.load(relaxed), relaxed);
            clear(part);
            clear(slot.targets[at]);
        }
        clear(slot.locks);
        for (auto* word : {&slot.told, &slot.inherited_locks, &slot.inherited_gone}) clear(*word);
        for (auto& one : slot.inherited_from) clear(one);
        clear(slot.forecasts);
        clear(slot.forecasts_left_out);
        clear(slot.by_itself);
        slot.owner.store(0, std::memory_order_release);
        ++freed;
    }
    return freed;
}

size_t agent_page::untold() const {
    const page& all = shared();
    const uint32_t tried = std::min<uint32_t>(all.tried.load(), page::most_processes);
    size_t count = 0;
    for (uint32_t i = 0; i < tried; ++i) {
        const process_slot& slot = all.slots[i];
        count += slot.owner.load(std::memory_order_acquire) != 0 && slot.told.load() != process_slot::itself ? 1 : 0;
    }
    return count;
}

size_t agent_page::processes() const {
    const page& all = shared();
    const uint32_t tried = std::min<uint32_t>(all.tried.load(), page::most_processes);
    size_t count = 0;
    for (uint32_t i = 0; i < tried; ++i) count += all.slots[i].owner.load(relaxed) != 0 ? 1 : 0;
    return count;
}

std::vector<int> agent_page::process_ids() const {
    const page& all = shared();
    const uint32_t tried = std::min<uint32_t>(all.tried.load(), page::most_processes);
    std::vector<int> found;
    for (uint32_t i = 0; i < tried; ++i) {
        const uint64_t owner = all.slots[i].owner.load(relaxed);
        if (owner != 0) found.push_back(process_slot::pid_of(owner));
    }
    return found;
}

}  // namespace halcyon::coordinate
