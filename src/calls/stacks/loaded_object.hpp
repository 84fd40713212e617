#pragma once

#include <cstdint>
#include <string_view>

namespace halcyon::calls {

/// A program or library as it lies in memory.
struct loaded_object {
    uintptr_t base;               ///< load address
    uintptr_t begin;              ///< of what was loaded
    uintptr_t end;                ///< behind that
    const unsigned char* frames;  ///< its index of unwind tables (.eh_frame_hdr); null: it has none
    const char* path;             ///< as it was loaded; "": the program itself
};

/// The object that `address` lies in; false: none that the dynamic linker knows. Allocates nothing; from glibc 2.35 on
/// it takes no lock either.
bool find_loaded_object(uintptr_t address, loaded_object& found);

/// Asks the kernel what the program itself is called: before the first base_name_of, and by one thread.
void remember_program_name();

/// The last part of the object's path.
std::string_view base_name_of(const loaded_object& object);

}  // namespace halcyon::calls
