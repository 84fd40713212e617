#pragma once

#include <cstddef>
#include <cstdint>

#include "calls/wrappers/handle_table.hpp"
#include "calls/wrappers/hdf5/hdf5_questions.hpp"
#include "calls/wrappers/wrapper.hpp"

/// The HDF5 libraries of the process. There may be several (a serial one that a module brought along, and the parallel
/// one of the application), each with identifiers of its own: a call must go to the one that its caller was linked
/// with.
namespace halcyon::calls::hdf5 {

/// One library. What it lacks of the questions is null.
struct library {
#define HALCYON_HDF5_MEMBER(symbol, result, parameters) result(*symbol) parameters = nullptr;
    HALCYON_HDF5_QUESTIONS(HALCYON_HDF5_MEMBER)
#undef HALCYON_HDF5_MEMBER

    uint32_t index = 0;
    void* base = nullptr;    ///< where it is loaded, by which it is known
    void* handle = nullptr;  ///< of the dynamic linker; kept, so that it stays loaded
    bool has_wide_ids = false;
    handle_table<8192> files;  ///< the file in which each of its identifiers lies
};
inline constexpr size_t most_libraries = 4;

/// The library that calls from `return_address` mean; null where it is not known: too many are, or a thread was stopped
/// while it added one. Each place that calls is looked up once.
library* library_of(const void* return_address);

/// Its function all the same, which is then called without a record; null where there is none.
void* function_called_from(const void* return_address, const char* symbol);

/// Its function; `found` has one slot for each library.
void* real_function_of(library& in, void* (&found)[most_libraries], const char* symbol);

/// The known_files id of the file in which an identifier lies; 0 where it is not known.
uint32_t file_of(library& in, int64_t id);

/// Says in which file a new identifier lies.
void remember(library& in, int64_t id, uint32_t file);
void forget(library& in, int64_t id);

}  // namespace halcyon::calls::hdf5

#ifdef HALCYON_STATIC_IO
#define HALCYON_HDF5_REAL(in, symbol, result, parameters) HALCYON_REAL(symbol, result, parameters)
#define HALCYON_HDF5_UNKNOWN(address, symbol, result, parameters) HALCYON_REAL(symbol, result, parameters)
#else
#define HALCYON_HDF5_REAL(in, symbol, result, parameters)                                                            \
    ([](::halcyon::calls::hdf5::library& at) -> result(*) parameters {                                               \
        static void* found[::halcyon::calls::hdf5::most_libraries] = {};                                             \
        return reinterpret_cast<result(*) parameters>(::halcyon::calls::hdf5::real_function_of(at, found, #symbol)); \
    }(in))
#define HALCYON_HDF5_UNKNOWN(address, symbol, result, parameters) \
    reinterpret_cast<result(*) parameters>(::halcyon::calls::hdf5::function_called_from(address, #symbol))
#endif
