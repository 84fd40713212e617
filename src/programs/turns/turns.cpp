#include "programs/turns/turns.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/sized_struct.hpp"
#include "coordinate/client/program_place.hpp"
#include "coordinate/page/mount_of.hpp"
#include "coordinate/page/process_life.hpp"

using namespace halcyon;
using namespace halcyon::coordinate;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
static_assert(HALCYON_IO_MAX_TARGETS == shared_targets::most);

failure usage(std::string message) {
    return {error_kind::usage, std::move(message), 0};
}

failure interrupted(const char* call) {
    return {error_kind::unavailable,
            std::string(call) +
                ": the wait was interrupted, and this process asks for no turn now; wait again, or "
                "call halcyon_io_release",
            0};
}

/// Where the path leads, as far as it exists; without system calls of its own where that cannot be asked.
std::string real_path(const std::string& path) {
    std::error_code none;
    const auto whole = std::filesystem::absolute(path, none);
    const auto found = std::filesystem::weakly_canonical(whole, none);
    std::string text = none ? whole.string() : found.string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

/// "/scratch, /work"
std::string mounts_of(const page& shared) {
    std::string all;
    for (size_t i = 0; i < shared.known_file_systems(); ++i) {
        if (i > 0) all += ", ";
        all += shared.file_system[i].mount();
    }
    return all;
}

template <size_t room>
void put(char (&into)[room], std::string_view text) {
    const size_t bytes = std::min(text.size(), room - 1);
    std::memcpy(into, text.data(), bytes);
    into[bytes] = '\0';
}

/// What the agent tells people, in a text of this version; "" while it changes that.
template <size_t room>
std::string told_in(const char (&shared)[room], const std::atomic<uint32_t>& version) {
    const uint32_t told = version.load(std::memory_order_acquire);
    std::string text(shared, ::strnlen(shared, room));
    std::atomic_thread_fence(std::memory_order_acquire);
    if (told % 2 != 0 || version.load(relaxed) != told) return {};
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

/// Of halcyon_io_info, in ascending order, each once; none, where these are more than are told of a process.
std::vector<uint32_t> targets_of(const halcyon_io_info& known) {
    constexpr uint64_t most_read = uint64_t{1} << 16U;
    if (known.target_count > most_read) return {};
    std::vector<uint32_t> found(known.targets, known.targets + known.target_count);
    std::ranges::sort(found);
    const auto again = std::ranges::unique(found);
    found.erase(again.begin(), again.end());
    if (found.size() > HALCYON_IO_MAX_TARGETS) found.clear();
    return found;
}

/// The handles of this process, and its place in the page of its job. A child may be forked off while another thread is
/// in open(): the child begins anew, instead of with a lock that nobody gives back and with things half changed.
class handles_of_process {
  public:
    static handles_of_process& here() {
        static std::atomic<handles_of_process*> latest{nullptr};
        handles_of_process* known = latest.load(std::memory_order_acquire);
        while (known == nullptr || known->pid_ != ::getpid()) {
            auto made = std::make_unique<handles_of_process>();
            made->of_parent_ = known;
            if (latest.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *made.release();
        }
        return *known;
    }

    [[nodiscard]] std::unique_lock<std::mutex> one_at_a_time() { return std::unique_lock(mutex_); }
    program_place place_by(const coordination& by) {
        if (by.mounts.empty()) return {nullptr, nullptr, by.why};
        if (place_.slot == nullptr) place_ = take_place_of_program(by, reinterpret_cast<const void*>(&halcyon_io_init));
        return place_;
    }
    halcyon_io_turns* keep(std::unique_ptr<halcyon_io_turns> one) { return all_.emplace_back(std::move(one)).get(); }

  private:
    int pid_ = ::getpid();
    handles_of_process* of_parent_ = nullptr;  ///< never freed, as those that were closed
    std::mutex mutex_;
    program_place place_;
    std::vector<std::unique_ptr<halcyon_io_turns>> all_;
};

}  // namespace

result<halcyon_io_turns*> halcyon_io_turns::open(const std::string& config, const std::string& path) {
    if (path.empty()) return usage("halcyon_io_init: the path is empty; give one on the file system to be used");
    const auto by = find_coordination(config);
    if (!by) return by.why();
    auto made = std::make_unique<halcyon_io_turns>();
    handles_of_process& own = handles_of_process::here();
    const auto lock = own.one_at_a_time();
    const program_place place = own.place_by(*by);
    const std::string real = real_path(path);
    const size_t at = place.slot == nullptr ? no_mount : mount_of(*place.shared, real);
    if (at != no_mount) {
        made->shared_ = place.shared;
        made->slot_ = place.slot;
        made->file_system_ = at;
        made->turn_.start(*place.shared, *place.slot, at);
        made->moved_before_ = made->moved();
        made->unasked_before_ = made->unasked();
    } else {
        made->why_ = place.slot == nullptr ? place.why
                                           : "nobody coordinates " + real + ": the coordinators of this job are for " +
                                                 mounts_of(*place.shared);
        made->why_ = "I/O is not coordinated: " + made->why_;
    }
    return own.keep(std::move(made));
}

int64_t halcyon_io_turns::moved() const {
    return slot_ == nullptr ? 0 : slot_->at[file_system_].moved.load(relaxed);
}

int64_t halcyon_io_turns::unasked() const {
    return slot_ == nullptr ? 0 : slot_->at[file_system_].unasked.load(relaxed);
}

double halcyon_io_turns::since_begin_s() const {
    return in_seconds(monotonic_ns() - begun_ns_);
}

result<std::string> halcyon_io_turns::prepare(const halcyon_io_info& info) {
    if (auto sized = check_size("halcyon_io_prepare", "halcyon_io_info", info, offsetof(halcyon_io_info, bytes));
        !sized)
        return sized.why();
    halcyon_io_info known{};
    std::memcpy(&known, &info, std::min<size_t>(info.size_bytes, sizeof known));
    if (info.size_bytes < sizeof known) known.target_count = 0;  // an earlier release's, or a part of the number
    const auto refuse = [](const char* member, const std::string& value) {
        return usage(std::string("halcyon_io_prepare: ") + member + " is " + value +
                     "; expected a number from 0 (not known) on");
    };
    if (known.bytes < 0) return refuse("bytes", std::to_string(known.bytes));
    if (known.files < 0) return refuse("files", std::to_string(known.files));
    if (!std::isfinite(known.alone_s) || known.alone_s < 0) return refuse("alone_s", std::to_string(known.alone_s));
    if (!std::isfinite(known.period_s) || known.period_s < 0) return refuse("period_s", std::to_string(known.period_s));
    if (known.access < HALCYON_IO_WRITE || known.access > HALCYON_IO_METADATA)
        return usage("halcyon_io_prepare: access is " + std::to_string(known.access) +
                     "; expected HALCYON_IO_WRITE, HALCYON_IO_READ or HALCYON_IO_METADATA");
    if (known.target_count > 0 && known.targets == nullptr)
        return usage("halcyon_io_prepare: targets is a null pointer, and target_count is " +
                     std::to_string(known.target_count));
    if (known_.is_full())
        return usage("halcyon_io_prepare: " + std::to_string(known_accesses::most_levels) +
                     " levels are prepared; each needs its halcyon_io_complete");
    known_access level{known.bytes, known.files, static_cast<operation>(known.access), known.alone_s, known.period_s};
    level.targets = targets_of(known);
    level.uses_all_targets = known.target_count > 0 && level.targets.empty();
    const bool too_many = level.uses_all_targets;
    known_.add(std::move(level), moved() + unasked());
    if (!too_many) return std::string();
    return "halcyon_io_prepare: " + std::to_string(known.target_count) + " storage targets are more than the " +
           std::to_string(HALCYON_IO_MAX_TARGETS) + " that are told of a process: it counts as using all targets";
}

result<void> halcyon_io_turns::complete() {
    if (known_.empty())
        return usage("halcyon_io_complete: nothing is prepared; there must be one halcyon_io_prepare for each");
    known_.remove_last();
    return {};
}

void halcyon_io_turns::inform() {
    const bool begins = at() == stage::idle;
    if (begins) begun_ns_ = monotonic_ns();
    if (slot_ == nullptr) {
        if (begins) stage_alone_ = stage::asking;
        return;
    }
    std::optional<phase_forecast> coming;
    if (!known_.empty()) coming = known_.forecast(moved() + unasked(), since_begin_s());
    if (begins) {
        told_before_ = shared_->file_system[file_system_].told.load(std::memory_order_acquire);
        turn_.announce(known_.what(), coming, known_.targets());
    } else {
        turn_.tell(coming);
        turn_.add_targets(known_.targets());
        turn_.ask_again();
    }
}

result<void> halcyon_io_turns::asked(const char* call) const {
    if (at() != stage::idle) return {};
    return usage(std::string(call) + ": no phase was announced; call halcyon_io_inform first");
}

result<bool> halcyon_io_turns::check() {
    if (auto may = asked("halcyon_io_check"); !may) return may.why();
    if (slot_ == nullptr) stage_alone_ = stage::holding;
    if (slot_ == nullptr) return true;
    return turn_.at() == stage::holding ? turn_.is_kept() : turn_.try_take();
}

result<void> halcyon_io_turns::wait(interruption by) {
    if (auto may = asked("halcyon_io_wait"); !may) return may;
    if (slot_ == nullptr) {
        stage_alone_ = stage::holding;
        return {};
    }
    const bool has_it = turn_.at() == stage::holding ? turn_.step(by) : turn_.take(by);
    if (!has_it) return interrupted("halcyon_io_wait");
    return {};
}

result<void> halcyon_io_turns::join(interruption by) {
    if (auto may = asked("halcyon_io_join"); !may) return may;
    if (at() == stage::holding)
        return usage("halcyon_io_join: the turn is held already; halcyon_io_wait gives way between two accesses");
    if (slot_ == nullptr)
        stage_alone_ = stage::holding;
    else if (!turn_.join(by))
        return interrupted("halcyon_io_join");
    return {};
}

result<void> halcyon_io_turns::release() {
    if (at() == stage::idle)
        return usage("halcyon_io_release: no phase was announced, so that there is nothing to give back");
    stage_alone_ = stage::idle;
    if (slot_ == nullptr) return {};
    if (known_.knows_next())
        turn_.tell(known_.after(moved() + unasked(), since_begin_s()));
    else
        turn_.tell({});
    turn_.give_back();
    return {};
}

void halcyon_io_turns::describe_turn(halcyon_io_status_t& into) const {
    const shared_file_system& here = shared_->file_system[file_system_];
    const uint32_t word = here.turn.load(std::memory_order_acquire);
    const int64_t now_ns = monotonic_ns();
    const bool is_heard = now_ns - shared_->beat_ns.load(std::memory_order_acquire) <= shared_->patience_ns &&
                          now_ns - here.heard_ns.load(std::memory_order_acquire) <= shared_->patience_ns;
    if ((word & (turn_word::holds | turn_word::leased)) == 0 || !is_heard) {
        into.coordination = HALCYON_IO_SILENT;
        const std::string reason = told_in(here.no_turn_reason, here.no_turn_reason_version);
        put(into.reason, reason.empty()
                             ? "nothing is heard of the coordinator or of this node's agent: I/O goes on without asking"
                             : "the coordinator gives no turns: " + reason);
        return;
    }
    // A process that changed its user after its start may not know: the coordinator takes the turn of one that seems to
    // move nothing.
    if (slot_->by_itself.layer.load(relaxed) == 0 && bytes_of_process(::getpid()) < 0)
        put(into.reason,
            "what this process moves does not count, since it may not read /proc/self/io: has it changed "
            "its user? prctl(PR_SET_DUMPABLE, 1) lets it");
    into.our_turn = turn_word::goes_under_lease(word) ? 1 : 0;
    into.others_move = here.others_move_version.load(relaxed) % 2 != 0 ? 1 : 0;
    if (into.our_turn != 0) return;
    // What was told of a phase before says nothing of this one.
    const bool is_new = here.told.load(std::memory_order_acquire) != told_before_;
    const bool knows = at() != stage::idle && is_new;
    into.expected_wait_s = knows ? in_seconds(here.wait_ns.load(relaxed)) : -1;
    into.load = knows ? here.in_phase.load(relaxed) : 0;
    if (knows) put(into.holders, told_in(here.holders, here.told));
    into.others_move = into.holders[0] != '\0' ? 1 : 0;
}

halcyon_io_status_t halcyon_io_turns::status() const {
    halcyon_io_status_t now{};
    now.size_bytes = sizeof now;
    now.stage = static_cast<halcyon_io_stage>(at());
    if (slot_ == nullptr) {
        now.coordination = HALCYON_IO_UNCOORDINATED;
        now.our_turn = 1;
        put(now.reason, why_);
        return now;
    }
    now.our_turn = 1;
    describe_turn(now);
    now.waited_s = in_seconds(turn_.waited_ns());
    now.bytes = moved() - moved_before_;
    now.bytes_unasked = unasked() - unasked_before_;
    now.steps_unasked = turn_.steps_unasked();
    now.steps_starving = turn_.steps_starving();
    return now;
}

void halcyon_io_turns::close() {
    if (slot_ != nullptr) {
        turn_.give_back();
        turn_.tell({});
    }
    is_open = false;
}
