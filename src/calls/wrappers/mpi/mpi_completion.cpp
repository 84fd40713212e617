// MPI_Wait, MPI_Test and their like, where I/O requests are among what they are given. Programs that only send messages
// pay one load for each of these calls.
#include "calls/wrappers/mpi/mpi_call.hpp"
#include "calls/wrappers/mpi/mpi_files.hpp"

namespace halcyon::calls {
namespace mpi {
namespace {

/// A list of requests as the application holds it: in words that the library sets to its null when one is complete.
struct request_list {
    const void* first;
    int64_t count;
    language spoken;

    [[nodiscard]] bool has_numbers() const { return spoken == language::fortran || !open_mpi(); }
    /// The word itself.
    [[nodiscard]] uint64_t word(int64_t i) const {
        if (has_numbers()) return static_cast<const uint32_t*>(first)[i];
        return static_cast<const uint64_t*>(first)[i];
    }
    [[nodiscard]] handle request(int64_t i) const {
        if (has_numbers()) return request_from_fortran(static_cast<const int*>(first)[i]);
        return static_cast<const handle*>(first)[i];
    }
};

/// Where a completed request's status is found.
enum class statuses : uint8_t { nowhere, one, of_each, of_completed };

/// What a function tells of its completions, in words of its own language.
struct outcome {
    statuses places;
    const int* completed = nullptr;  ///< how many; with statuses::of_completed
    const int* indices = nullptr;    ///< which, from 0 in C, from 1 in Fortran
};

/// An I/O request among those of a call.
struct io_request {
    int64_t index;
    uint64_t word;
    handle request;
    uint32_t file;
};

/// Which of the completed requests has this index; none where it is not among them.
int64_t place_of(int64_t index, const outcome& told, int first_index) {
    for (int i = 0; i < *told.completed; ++i) {
        if (told.indices[i] - first_index == index) return i;
    }
    return none;
}

/// One call that completes requests. `real(statuses)` makes it.
class completion {
  public:
    completion(request_list list, outcome told, io_request* requests, int64_t count)
        : list_(list), told_(told), requests_(requests), count_(count) {}

    /// A call for one I/O request tells of it itself; one for several reports each that it completed.
    void describe(call_record& record) const {
        record.argument = count_ == 1 ? static_cast<int64_t>(key_of(requests_[0].request)) : count_;
        record.file = requests_[0].file;
        for (int64_t i = 1; i < count_; ++i) {
            if (requests_[i].file != record.file) record.file = 0;
        }
    }

    /// Keeps in mind what is not complete. True when something is.
    bool finish(thread_state& thread, call_record& record, int result, const void* first) const {
        bool any = false;
        const int from = first_index();
        for (int64_t i = 0; i < count_; ++i) {
            const io_request& one = requests_[i];
            if (!is_complete(one)) {
                requests::add(one.request, one.file);
                continue;
            }
            any = true;
            const int64_t moved = result == success ? bytes_of_status(status_of(one, first, from)) : none;
            if (count_ == 1)
                record.moved = moved;
            else
                report_completed(thread, record, one, moved);
        }
        return any;
    }

  private:
    [[nodiscard]] bool is_complete(const io_request& one) const { return list_.word(one.index) != one.word; }

    /// 0 in C. Fortran counts from 1, but mpi_f08 of MPICH 4.0 hands C's indices out: what is complete must be among
    /// them.
    [[nodiscard]] int first_index() const {
        if (told_.places != statuses::of_completed || list_.spoken == language::c) return 0;
        for (int64_t i = 0; i < count_; ++i) {
            if (is_complete(requests_[i]) && place_of(requests_[i].index, told_, 1) == none) return 0;
        }
        return 1;
    }

    [[nodiscard]] const void* status_of(const io_request& one, const void* first, int from) const {
        if (first == nullptr || told_.places == statuses::nowhere) return nullptr;
        if (told_.places == statuses::one) return first;
        const int64_t place = told_.places == statuses::of_each ? one.index : place_of(one.index, told_, from);
        if (place == none) return nullptr;
        return static_cast<const unsigned char*>(first) + place * static_cast<int64_t>(status_bytes());
    }

    static void report_completed(thread_state& thread, const call_record& within, const io_request& one,
                                 int64_t moved) {
        call_record record = blank_record(call_id::MPI_request);
        record.start = within.start + within.duration;
        record.file = one.file;
        record.moved = moved;
        record.argument = static_cast<int64_t>(key_of(one.request));
        report(thread, record);
    }

    request_list list_;
    outcome told_;
    io_request* requests_;
    int64_t count_;
};

int64_t count_started(const request_list& list) {
    int64_t count = 0;
    for (int64_t i = 0; i < list.count; ++i) count += requests::is_known(list.request(i)) ? 1 : 0;
    return count;
}

int64_t take_started(const request_list& list, io_request* out, int64_t room) {
    int64_t count = 0;
    for (int64_t i = 0; i < list.count && count < room; ++i) {
        const handle request = list.request(i);
        const requests::started found = requests::take(request);
        if (found.known) out[count++] = {i, list.word(i), request, found.file};
    }
    return count;
}

template <call_id id>
constexpr bool tests =
    id == call_id::MPI_Test || id == call_id::MPI_Testall || id == call_id::MPI_Testany || id == call_id::MPI_Testsome;

/// Tests come in thousands. One that completed nothing, and made no calls that were recorded, leaves no record.
template <class Real>
int test_once(thread_state& thread, call_record& record, const completion& ends, Real real, void* status) {
    bool completed = false;
    int result = success;
    call_id outer = call_id::unknown;
    {
        const call_in_progress here(thread, record);
        outer = here.outer_function();
        record.start = ticks();
        result = real(status);
        record.duration = ticks() - record.start;
        record.result = result;
        record.error = class_of_error(result);
        completed = ends.finish(thread, record, result, status);
    }
    if (completed || thread.number != record.number) {
        pass_over(record, outer);
    } else {
        --thread.number;
    }
    return result;
}

// Statuses that the application ignores are looked at all the same where there are not too many.
constexpr int64_t most_own_statuses = 32;

template <call_id id, class Real>
[[gnu::noinline]] int complete_among(request_list list, outcome told, void* status, Real real) {
    if (!recording() || list.first == nullptr) return real(status);
    thread_state& thread = this_thread();
    if ((thread.inside > 0 && !may_record(thread)) || is_made_by_itself(thread, id)) return real(status);
    const int64_t room = count_started(list);
    if (room == 0) return real(status);
    auto* requests = static_cast<io_request*>(__builtin_alloca(static_cast<size_t>(room) * sizeof(io_request)));
    const int64_t count = take_started(list, requests, room);
    if (count == 0) return real(status);
    const completion ends(list, told, requests, count);

    status_room own[most_own_statuses];
    const bool ignored = ignores(status, list.spoken);
    const bool fits = told.places <= statuses::one || list.count <= most_own_statuses;
    void* const used = ignored && fits ? static_cast<void*>(own) : status;
    call_record record = blank_record(id);
    ends.describe(record);
    if constexpr (tests<id>) {
        return test_once(
            thread, record, ends, [&](void*) { return real(used); }, ignored && !fits ? nullptr : used);
    } else {
        return through_layers(
            thread, record, [&] { return real(used); },
            [&](call_record& called, int result) {
                called.error = class_of_error(result);
                ends.finish(thread, called, result, ignored && !fits ? nullptr : used);
            });
    }
}

// The other way's frame is large: nothing of it on this one.
template <call_id id, class Real>
int complete(request_list list, outcome told, void* status, Real real) {
    if (requests::none_started()) [[likely]]
        return real(status);
    return complete_among<id>(list, told, status, real);
}

template <call_id id, class Real>
void complete_fortran(request_list list, outcome told, void* status, int* error, Real real) {
    int unwanted = success;
    int* const code = error != nullptr ? error : &unwanted;
    *code = complete<id>(list, told, status, [&](void* used) {
        real(used, code);
        return *code;
    });
}

}  // namespace
}  // namespace mpi

using mpi::complete;
using mpi::complete_fortran;
using mpi::outcome;
using mpi::request_list;
using mpi::statuses;
constexpr mpi::language c_language = mpi::language::c;
constexpr mpi::language fortran_language = mpi::language::fortran;

// A function in C and its two in Fortran. `list`, `told`: how its arguments become request_list and outcome.
#define COMPLETION_IN_C(Name, parameters, list, told, names)                                            \
    HALCYON_WRAPPER(MPI_##Name, int, parameters);                                                       \
    int halcyon_wrap_MPI_##Name parameters {                                                            \
        return complete<call_id::MPI_##Name>(request_list list, outcome told, status, [&](void* used) { \
            return HALCYON_REAL(MPI_##Name, int, parameters) names;                                     \
        });                                                                                             \
    }
#define COMPLETION_IN_FORTRAN(symbol, Name, parameters, list, told, names)                      \
    HALCYON_WRAPPER(symbol, void, parameters);                                                  \
    void halcyon_wrap_##symbol parameters {                                                     \
        complete_fortran<call_id::MPI_##Name>(request_list list, outcome told, status, error,   \
                                              [&](void* used, int* code) {                      \
                                                  HALCYON_REAL(symbol, void, parameters) names; \
                                              });                                               \
    }
#define COMPLETION_IN_BOTH_FORTRANS(Name, name, parameters, list, told, names) \
    COMPLETION_IN_FORTRAN(mpi_##name##_, Name, parameters, list, told, names)  \
    COMPLETION_IN_FORTRAN(mpi_##name##_f08_, Name, parameters, list, told, names)

COMPLETION_IN_C(Wait, (void* request, void* status), ({request, 1, c_language}), ({statuses::one}), (request, used))
COMPLETION_IN_BOTH_FORTRANS(Wait, wait, (int* request, void* status, int* error), ({request, 1, fortran_language}),
                            ({statuses::one}), (request, used, code))

COMPLETION_IN_C(Waitall, (int count, void* requests, void* status), ({requests, count, c_language}),
                ({statuses::of_each}), (count, requests, used))
COMPLETION_IN_BOTH_FORTRANS(Waitall, waitall, (int* count, int* requests, void* status, int* error),
                            ({requests, *count, fortran_language}), ({statuses::of_each}),
                            (count, requests, used, code))

COMPLETION_IN_C(Waitany, (int count, void* requests, int* index, void* status), ({requests, count, c_language}),
                ({statuses::one}), (count, requests, index, used))
COMPLETION_IN_BOTH_FORTRANS(Waitany, waitany, (int* count, int* requests, int* index, void* status, int* error),
                            ({requests, *count, fortran_language}), ({statuses::one}),
                            (count, requests, index, used, code))

COMPLETION_IN_C(Waitsome, (int count, void* requests, int* completed, int* indices, void* status),
                ({requests, count, c_language}), ({statuses::of_completed, completed, indices}),
                (count, requests, completed, indices, used))
COMPLETION_IN_BOTH_FORTRANS(Waitsome, waitsome,
                            (int* count, int* requests, int* completed, int* indices, void* status, int* error),
                            ({requests, *count, fortran_language}), ({statuses::of_completed, completed, indices}),
                            (count, requests, completed, indices, used, code))

COMPLETION_IN_C(Test, (void* request, int* flag, void* status), ({request, 1, c_language}), ({statuses::one}),
                (request, flag, used))
COMPLETION_IN_BOTH_FORTRANS(Test, test, (int* request, int* flag, void* status, int* error),
                            ({request, 1, fortran_language}), ({statuses::one}), (request, flag, used, code))

COMPLETION_IN_C(Testall, (int count, void* requests, int* flag, void* status), ({requests, count, c_language}),
                ({statuses::of_each}), (count, requests, flag, used))
COMPLETION_IN_BOTH_FORTRANS(Testall, testall, (int* count, int* requests, int* flag, void* status, int* error),
                            ({requests, *count, fortran_language}), ({statuses::of_each}),
                            (count, requests, flag, used, code))

COMPLETION_IN_C(Testany, (int count, void* requests, int* index, int* flag, void* status),
                ({requests, count, c_language}), ({statuses::one}), (count, requests, index, flag, used))
COMPLETION_IN_BOTH_FORTRANS(Testany, testany,
                            (int* count, int* requests, int* index, int* flag, void* status, int* error),
                            ({requests, *count, fortran_language}), ({statuses::one}),
                            (count, requests, index, flag, used, code))

COMPLETION_IN_C(Testsome, (int count, void* requests, int* completed, int* indices, void* status),
                ({requests, count, c_language}), ({statuses::of_completed, completed, indices}),
                (count, requests, completed, indices, used))
COMPLETION_IN_BOTH_FORTRANS(Testsome, testsome,
                            (int* count, int* requests, int* completed, int* indices, void* status, int* error),
                            ({requests, *count, fortran_language}), ({statuses::of_completed, completed, indices}),
                            (count, requests, completed, indices, used, code))

// Frees the handle; the transfer itself goes on, and nobody hears of its end. There is no status.
HALCYON_WRAPPER(MPI_Request_free, int, (void* request));
int halcyon_wrap_MPI_Request_free(void* request) {
    return complete<call_id::MPI_Request_free>(
        request_list{request, 1, c_language}, outcome{statuses::nowhere}, nullptr,
        [&](void*) { return HALCYON_REAL(MPI_Request_free, int, (void*))(request); });
}
#define REQUEST_FREE(symbol)                                                                     \
    HALCYON_WRAPPER(symbol, void, (int* request, int* error));                                   \
    void halcyon_wrap_##symbol(int* request, int* error) {                                       \
        complete_fortran<call_id::MPI_Request_free>(request_list{request, 1, fortran_language},  \
                                                    outcome{statuses::nowhere}, nullptr, error,  \
                                                    [&](void*, int* code) {                      \
                                                        HALCYON_REAL(symbol, void, (int*, int*)) \
                                                        (request, code);                         \
                                                    });                                          \
    }
REQUEST_FREE(mpi_request_free_)
REQUEST_FREE(mpi_request_free_f08_)

}  // namespace halcyon::calls
