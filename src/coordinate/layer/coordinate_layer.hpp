#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "calls/record/layer.hpp"
#include "calls/state/patient_lock.hpp"
#include "coordinate/layer/call_roles.hpp"
#include "coordinate/layer/file_mounts.hpp"
#include "coordinate/layer/lock_table.hpp"
#include "coordinate/layer/turn_taker.hpp"

namespace halcyon::coordinate {

/// Makes the application's calls on coordinated file systems wait for its turn.
///
/// Where a backend answers for a file, the file system is that to which the bytes go (calls::data_places), and names
/// belong to the path's. A call that leads to several waits for the turn of each, one after the other, and its bytes
/// count at one of them: no application holds one turn while it waits for another.
///
/// Reads, writes, copies and syncs take turns; of streams, the calls that move data. Opening, creating, renaming,
/// removing and resizing take turns from the `page::least_burst`-th such call on that comes without a pause of
/// `page::pause_ns` before it, each as if it moved 4 KiB; before that they pass, since they cost less than a turn does.
/// The name of a file that is opened is known only when it is open: such a call of a burst belongs to the file system
/// of its thread's metadata call before. A process waits before it takes a first file lock, so that it holds none while
/// it waits.
///
/// Never held back: closing and unlocking; calls that may not wait, that transfer nothing, or that only start a
/// transfer or wait for one; a process that holds a file lock, and the others of its job on the node while one does; a
/// transfer under a collective call of MPI-IO below the round at which all processes stop; calls of signal handlers
/// that interrupted a wait, and of those that interrupted a call under way; children of vfork. Calls of MPI-IO and HDF5
/// wait in the calls of POSIX that they make. A wait ends after page::patience_ns without a beat of the agent or the
/// coordinator, and after shared_file_system::starvation_ns.
///
/// Children of fork are processes like any other: the first call of one finds that its process records nothing yet
/// (process_state), starts this layer anew, and takes a place of its own in the page. What could go wrong there:
///
/// - Other threads of the parent were in calls, or in a collective one: these stay counted in the parent's place. The
///   child has none of those threads, its place begins with zeros, and each thread forgets its calls (own_calls) since
///   the generation differs. It is in no collective call, and may wait at a stop for that reason.
/// - A handler forked in the middle of a call: is_forked_since().
/// - Locks: fcntl's are not inherited, those of descriptions are; lock_table::start() keeps these.
/// - It must take what a child of a process with threads may: start() makes direct system calls, and no memory is
///   allocated from the application's.
/// - Its parent may wait for it while it waits for its turn: so does the whole job, which the starvation limit bounds,
///   unless the parent holds a lock, which lets all of them go on.
/// - It dies without telling: the agent finds its place and adds up what it moved, as of every process. A dead one that
///   its parent has not waited for counts as gone (start_of_process).
/// - It calls exec: the new program has the same number and start, so that it finds the same place.
/// - All places are taken: it goes on uncoordinated, counted in page::refused.
///
/// A child of vfork lives in the memory of its parent, whose thread it is: its calls come to no layer (may_record), it
/// neither waits nor counts.
///
/// Of each process that used a coordinated file system, a file (process_facts.hpp) says how much it moved, asked and
/// unasked, how long it waited, and which calls went on out of turn.
class coordinate_layer final : public calls::entering_layer {
  public:
    struct settings {
        page* shared = nullptr;
        process_slot* slot = nullptr;
        std::string_view directory;             ///< where the file of facts goes; "": nowhere
        coming_io::source forecasts = nullptr;  ///< null: there are none
        forecaster::budget forecasting = {};
    };

    /// False when it cannot; `complaint` says why.
    bool start(const settings& wanted, char* complaint, size_t complaint_bytes);

    void invoke(calls::call_record& record, const calls::next_call& next) override {
        const meaning of = meanings_[record.function];
        if (of.role == call_role::none) return next(record);
        if (of.role == call_role::transfer) [[likely]] {
            const size_t at = files_.find(record.file, of.use);
            if (at != file_mounts::nowhere) return transfer(at, record, next);
            if (!of.copies || record.bytes == calls::none) return next(record);
        }
        invoke_other(of.role, record, next);
    }
    [[nodiscard]] calls::entering_layer* as_entering() override { return this; }
    uint64_t enter(calls::call_record& record) override;
    /// In the thread that entered.
    void leave(const calls::call_record& record, uint64_t entered) override;
    void on_file(const calls::named_file& file) override { files_.name(file.id, file.path); }
    void on_places(const calls::named_file& file, const calls::data_places& places) override {
        if (places.empty())
            files_.name(file.id, file.path);
        else
            files_.place(file.id, file.path, places);
    }
    [[nodiscard]] bool wants_places() const override { return true; }
    void on_absence(std::string_view subject, uint64_t count) override;
    void on_end(calls::ending how) override;

    /// Of a thread of which none will return; anywhere in it.
    void forget_calls(own_calls& of_thread);

    /// Whether other applications moved bytes at the same file system while this call of the thread did, which is over;
    /// true also where nobody knows.
    [[nodiscard]] bool moved_beside_others(const calls::call_record& record) const;
    /// See forecaster.
    void stop_forecasts() { asks_.rest(); }
    [[nodiscard]] const forecaster& asks() const { return asks_; }

  private:
    static constexpr size_t longest_path = 1024;
    static constexpr int64_t metadata_bytes = 4096;

    /// Of what enter() returns, with the process in the lower half, and in the upper one the file system, and who was
    /// beside it (the lower bits of turn_taker::others_move_version).
    static constexpr uint64_t entered_bit = uint64_t{1} << 62U;
    static constexpr uint64_t at_shift = 59, beside_mask = (uint64_t{1} << 27U) - 1;
    static_assert(process_slot::most_file_systems == 8, "three bits");

    /// What a function is to this layer.
    struct meaning {
        call_role role;
        operation what;  ///< of a transfer
        file_use use;    ///< by which the file system is found
        bool copies;
        int64_t most_bytes;  ///< that one call moves

        /// Of a transfer that asks for so many, while it is under way.
        [[nodiscard]] int64_t counted(int64_t bytes) const { return std::clamp<int64_t>(bytes, 0, most_bytes); }
    };

    [[gnu::noinline]] uint64_t enter_unlike(calls::call_record& record, size_t at);
    [[nodiscard]] uint64_t has_entered(size_t at, const own_calls& mine) const;
    void transfer(size_t at, calls::call_record& record, const calls::next_call& next);
    [[nodiscard]] turn_taker* last_of(size_t at, operation what, calls::call_record& record,
                                      const calls::next_call& next);
    [[gnu::noinline]] void invoke_other(call_role role, calls::call_record& record, const calls::next_call& next);
    void take_turn(turn_taker& at, int64_t bytes, operation what, calls::call_record& record,
                   const calls::next_call& next);
    void end_turn(turn_taker& at, own_calls& mine, passage how, uint32_t others, int64_t bytes, int64_t moved,
                  const calls::call_record& record);
    void stream(size_t at, calls::call_record& record, const calls::next_call& next);
    void metadata(calls::call_record& record, const calls::next_call& next);
    void collective(size_t at, calls::call_record& record, const calls::next_call& next);
    void lock(size_t at, calls::call_record& record, const calls::next_call& next);
    bool name_facts(std::string_view directory);
    bool write_facts(const char* ending);

    std::array<meaning, static_cast<size_t>(calls::call_id::count)> meanings_{};
    file_mounts files_;
    forecaster asks_;
    std::array<turn_taker, process_slot::most_file_systems> takers_;
    lock_table locks_;
    page* shared_ = nullptr;
    process_slot* slot_ = nullptr;
    uint64_t told_forecasts_ = 0, told_left_out_ = 0;  ///< of those that are in the slot
    char facts_path_[longest_path] = {};               ///< "": none
};

}  // namespace halcyon::coordinate
