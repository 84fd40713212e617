#pragma once

#include <cstdint>

namespace halcyon::calls {

/// How the frame of a function's caller is found from within the function, at one place of its code: what the unwind
/// tables say there of the registers that frames are found by. Packed into one word, so that it can be kept in one.
struct frame_rule {
    /// Where the caller's stack pointer is to be found.
    enum class origin : uint8_t {
        end,       ///< nowhere: the outermost function, a signal's frame, no tables, or ones that say what is not
                   ///< understood here
        from_sp,   ///< stack pointer + offset
        from_bp,   ///< frame pointer + offset
        deref_bp,  ///< what lies at frame pointer + offset (a function that aligns its stack)
    };
    /// Where the caller's frame pointer is.
    enum class saved : uint8_t {
        same,    ///< not changed
        at_cfa,  ///< at the caller's stack pointer + bp_offset
        at_bp,   ///< at the frame pointer + bp_offset
        lost,
    };

    int32_t offset = 0;  ///< bytes
    int16_t bp_offset = 0;
    origin from = origin::end;
    saved bp = saved::same;
};
static_assert(sizeof(frame_rule) == 8);

/// True where stacks can be walked by unwind tables: written for x86-64.
#if defined(__x86_64__)
inline constexpr bool reads_unwind_tables = true;
#else
inline constexpr bool reads_unwind_tables = false;
#endif

/// The rule at `code`, from the tables of the object that it lies in. Asks nobody but find_loaded_object.
frame_rule read_frame_rule(uintptr_t code);

/// The same from one object's index of unwind tables (.eh_frame_hdr).
frame_rule read_frame_rule(uintptr_t code, const unsigned char* index);

}  // namespace halcyon::calls
