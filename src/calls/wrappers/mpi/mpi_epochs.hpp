#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "calls/backends/awaited_opening.hpp"
#include "calls/backends/mounted_path.hpp"
#include "calls/backends/synced_by_each.hpp"
#include "calls/record/call_table.hpp"
#include "calls/wrappers/mpi/mpi_library.hpp"

/// Ranks that open a backend's file together for writing raise its epoch together (file_backend::raise_epoch): when
/// they open, sync and close it by MPI, which are collective calls. So what one of them wrote before is older than what
/// another one writes after, whatever their clocks say.
///
/// They agree over a communicator of their own, which lives as long as the file is open: no message of the application
/// meets one of these. Each message is sent within a collective call of the application on that file, or on the
/// communicator that it opens the file with, which all ranks make in one order.
///
/// In calls by which ranks write together, the library lets some of them write for others (collective buffering): those
/// read a part of the file, put the others' pieces into it, and write all of it back. So what each rank wrote is shown
/// before, and what such a call writes counts less than what any rank writes behind it. A call that returns at once
/// cannot agree on that: from then on, each transfer on the file is shown, and looks at those of others.
///
/// No rank waits for one that lacks this library: to that one the file is a directory, which it cannot open for
/// writing, and ROMIO agrees on it that all have failed. OMPIO agrees on nothing, but has collective calls of its own
/// behind the open, in which the other ranks wait as they would here.
namespace halcyon::calls::mpi {

/// This call on a file of MPI is the application's, not one that the library makes of it (MPICH's Fortran functions
/// call those in C). On a thread's stack, around the library's function.
class outermost_call {
  public:
    outermost_call();
    ~outermost_call();
    outermost_call(const outermost_call&) = delete;
    outermost_call& operator=(const outermost_call&) = delete;

    explicit operator bool() const { return is_outermost_; }

  private:
    bool is_outermost_;
};

/// Around the library's function that opens a file.
class opening_together {
  public:
    opening_together(handle communicator, const char* path, int access);

    /// It has done so, on all ranks.
    void opened(handle file);

  private:
    [[nodiscard]] bool has_opened();

    outermost_call outermost_;
    handle communicator_;
    bool may_write_;
    backends::mounted_path at_;
    file_backend* backend_ = nullptr;  // null: there are no epochs
    std::optional<backends::awaited_opening> awaited_;
};

/// Around the library's function that syncs or closes a file. The epoch is raised before: what was written until then
/// is published, and made durable, with it.
class epoch_before {
  public:
    enum class call : bool { syncs, closes };
    epoch_before(handle file, call made);
    ~epoch_before();
    epoch_before(const epoch_before&) = delete;
    epoch_before& operator=(const epoch_before&) = delete;

    /// What that function is given.
    template <class Argument>
    [[nodiscard]] Argument for_call_of(Argument given) const {
        return given;
    }

  private:
    outermost_call outermost_;
    std::optional<backends::synced_by_each> synced_;
    handle freed_ = nullptr;  // behind the call
};

/// Around the library's function by which ranks write together.
class writing_together {
  public:
    enum class call : bool { waits, returns_at_once };
    writing_together(handle file, call made);
    ~writing_together();
    writing_together(const writing_together&) = delete;
    writing_together& operator=(const writing_together&) = delete;

    template <class Argument>
    [[nodiscard]] Argument for_call_of(Argument given) const {
        return given;
    }

  private:
    outermost_call outermost_;
    file_backend* backend_ = nullptr;
    file_backend::handle here_ = 0;
};

/// Whether a call writes back what lies between its pieces. MPI_File_preallocate writes all that there is.
inline constexpr bool writes_together(call_id id) {
    const bool is_write = functions[static_cast<size_t>(id)].does == kind::write;
    return is_collective(id) && (is_write || id == call_id::MPI_File_preallocate);
}

/// writing_together, of calls that write so; of others, nothing.
template <call_id id>
class around_transfer {
  public:
    template <class Find>
    explicit around_transfer(Find file) {
        constexpr bool starts = std::string_view(functions[static_cast<size_t>(id)].argument) == "request";
        if constexpr (writes_together(id))
            together_.emplace(file(), starts ? writing_together::call::returns_at_once : writing_together::call::waits);
    }
    template <class Argument>
    [[nodiscard]] Argument for_call_of(Argument given) const {
        return given;
    }

  private:
    struct nothing {};
    [[no_unique_address]] std::conditional_t<writes_together(id), std::optional<writing_together>, nothing> together_;
};

}  // namespace halcyon::calls::mpi
