#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "calls/record/call_circumstances.hpp"
#include "calls/record/call_record.hpp"
#include "calls/record/data_places.hpp"

namespace halcyon::calls {

/// What becomes of a call after a layer: the layers behind it, and at the end the function itself, which fills in
/// start, duration, result, moved and error.
class next_call {
  public:
    using function = void (*)(void* state, call_record&);
    using teller = call_circumstances (*)(const void* state, const call_record&);

    /// `tell` says under which circumstances the call is made, of the same `state`.
    next_call(function call, teller tell, void* state) : call_(call), tell_(tell), state_(state) {}
    void operator()(call_record& record) const { call_(state_, record); }

    /// Looked up only now: for a layer that delays calls, before it passes this one on. `record` is that of invoke().
    [[nodiscard]] call_circumstances circumstances(const call_record& record) const { return tell_(state_, record); }

  private:
    function call_;
    teller tell_;
    void* state_;
};

/// A file that calls refer to by its id.
struct named_file {
    uint32_t id;
    std::string_view path;  ///< absolute where that could be found out
    int64_t block_bytes;    ///< the file system's block; none where the file was not opened
    uint64_t filesystem;    ///< statfs' f_type; 0 where the file was not opened
};

/// A place in a call stack: a return address, as it is the same in every run.
struct context_frame {
    std::string_view object;  ///< base name of the program or library
    uint64_t offset;          ///< from the address at which that was loaded
};

/// Why a process' recording ends.
enum class ending : uint8_t { exit, exec, abort };

class entering_layer;

/// Something that calls pass through: it passes a call on, at once or later. Answering one is a backend's matter
/// (backends/file_backend.hpp).
///
/// Called from any thread and from signal handlers, between the application and its I/O: must not allocate, must not
/// throw, must not call interposed functions, must return with what the application expects. A layer that waits adds
/// the time to the record's `wait`; only before the first layer a gate may hold the application, as if it came later.
class layer {
  public:
    virtual void invoke(call_record& record, const next_call& next) = 0;
    /// This layer, if calls may enter it where it is the only one. Asked once, when the process' recording starts.
    [[nodiscard]] virtual entering_layer* as_entering() { return nullptr; }
    /// A file got its id: before the first call that refers to it. Once more, with the same id, when its file system
    /// is known only later.
    virtual void on_file(const named_file& /*file*/) {}
    /// A backend keeps the bytes of a file elsewhere than its path says: behind on_file, before the first call on the
    /// open file, and once more when that has changed. `places` empty: they lie where the path says, from now on.
    virtual void on_places(const named_file& /*file*/, const data_places& /*places*/) {}
    /// Something about the process or a file that is no call: `mpi.rank`, `mpi.hint.romio_ds_write`.
    virtual void on_fact(uint32_t /*file*/, std::string_view /*key*/, std::string_view /*value*/) {}
    /// Whether this layer looks at call_record::context. Asked once, when the process' recording starts.
    [[nodiscard]] virtual bool wants_contexts() const { return false; }
    /// Whether this layer looks up paths by their ids (known_files::paths). Asked once, as above.
    [[nodiscard]] virtual bool wants_paths() const { return false; }
    /// Whether this layer is to see what backends ask of the kernel (report_below), too: calls of level log. Asked
    /// once, as above; where none wants them they are not reported. Others ignore them: whoever counts or learns what
    /// goes to files has seen the application's call.
    [[nodiscard]] virtual bool wants_calls_below() const { return false; }
    /// Whether this layer looks at on_places. Asked once, as above.
    [[nodiscard]] virtual bool wants_places() const { return false; }
    /// A call stack got its number: before the first call of this process that refers to it; sometimes more than once.
    /// `frames`: the innermost ones, from there outwards.
    virtual void on_context(uint32_t /*id*/, std::span<const context_frame> /*frames*/) {}
    /// Calls that could not be seen, or were not recorded.
    virtual void on_absence(std::string_view /*subject*/, uint64_t /*count*/) {}
    /// The process is about to end or to become another program. Calls may still follow.
    virtual void on_end(ending /*how*/) {}

  protected:
    ~layer() = default;
};

/// A layer that calls may enter and leave, where it is the only one, in place of passing through invoke(): a stack
/// frame that is left only after a system call costs some 9 ns on processors that forget predicted returns in the
/// kernel, more than all that is done in it.
class entering_layer : public layer {
  public:
    /// Of what enter() returns: this layer does not need the call's duration. Reading the clock costs up to 15 ns.
    static constexpr uint64_t untimed = uint64_t{1} << 63U;
    /// As a whole: the call is none of this layer's business. It goes on, and leave() is not told.
    static constexpr uint64_t let_go = 1;

    /// The call goes on at once, and leave() is told when it is over; 0: invoke() has to see it. A layer that has read
    /// the clock may put the time into record.start.
    virtual uint64_t enter(call_record& record) = 0;
    /// `entered`: what enter() returned.
    virtual void leave(const call_record& record, uint64_t entered) = 0;

  protected:
    ~entering_layer() = default;
};

/// The layers of this process in the order in which calls pass them. Constant once the process records.
class layer_chain {
  public:
    static constexpr size_t capacity = 8;

    void add(layer& added) {
        layers_[count_++] = &added;
        entered_ = count_ == 1 ? added.as_entering() : nullptr;
    }
    void clear() {
        count_ = 0;
        entered_ = nullptr;
    }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// The only layer, if calls may enter it; null: they pass through all layers.
    [[nodiscard]] entering_layer* entered() const { return entered_; }

    /// Lets the call pass all layers, then `last`.
    void invoke(call_record& record, const next_call& last) const { from{this, 0, &last}.pass(record); }

    template <class Event>
    void each(Event event) const {
        for (size_t i = 0; i < count_; ++i) event(*layers_[i]);
    }

  private:
    struct from {
        const layer_chain* chain;
        size_t position;
        const next_call* last;

        void pass(call_record& record) const {
            if (position == chain->count_) return (*last)(record);
            from behind{chain, position + 1, last};
            chain->layers_[position]->invoke(record, next_call(&from::call, &from::tell, &behind));
        }
        static void call(void* state, call_record& record) { static_cast<from*>(state)->pass(record); }
        static call_circumstances tell(const void* state, const call_record& record) {
            return static_cast<const from*>(state)->last->circumstances(record);
        }
    };

    entering_layer* entered_ = nullptr;
    layer* layers_[capacity] = {};
    size_t count_ = 0;
};

}  // namespace halcyon::calls
