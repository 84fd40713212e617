// The wrappers of HDF5, one for each row of table_hdf5.def.
#include "calls/wrappers/hdf5/hdf5_library.hpp"
#include "calls/wrappers/hdf5/hdf5_shapes.hpp"

namespace halcyon::calls {
namespace hdf5 {
namespace {

/// A wrapper's body (interception.hpp), for a call of one library.
template <class Shape, call_id id, class Result, class... Parameters>
Result intercept(library* in, Result (*real)(Parameters...), std::type_identity_t<Parameters>... arguments) {
    if (real == nullptr) return static_cast<Result>(-1);
    if (in == nullptr || !recording() || !in->has_wide_ids) return real(arguments...);
    thread_state& thread = this_thread();
    if (thread.inside > 0 && !may_record(thread)) return real(arguments...);
    call_record record = blank_record(id);
    if (!Shape::before(record, *in, arguments...)) return real(arguments...);
    return through_layers(
        thread, record, [&] { return real(arguments...); },
        [&](call_record& called, Result result) {
            // HDF5 gives no number for an error; the one of the call below that failed is the best there is.
            if (result >= 0)
                called.error = 0;
            else if (called.error == 0)
                called.error = EIO;
            Shape::after(called, *in, result, arguments...);
        });
}

}  // namespace
}  // namespace hdf5

#define ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__
#define HDF5(symbol, kind, shape, result, parameters, names, argument)                                \
    HALCYON_WRAPPER(symbol, result, parameters);                                                      \
    result halcyon_wrap_##symbol parameters {                                                         \
        const void* caller = __builtin_return_address(0);                                             \
        hdf5::library* meant = hdf5::library_of(caller);                                              \
        const auto real = meant == nullptr ? HALCYON_HDF5_UNKNOWN(caller, symbol, result, parameters) \
                                           : HALCYON_HDF5_REAL(*meant, symbol, result, parameters);   \
        return hdf5::intercept<hdf5::shapes::shape, call_id::symbol>(meant, real ARGUMENTS names);    \
    }
#include "calls/record/table_hdf5.def"

}  // namespace halcyon::calls
