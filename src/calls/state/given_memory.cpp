#include "calls/state/given_memory.hpp"

#include <cstdint>
#include <cstring>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls::given {
namespace {

constexpr uintptr_t page = 4096;  // the least there is: larger ones are asked about more often than needed

uintptr_t page_of(uintptr_t address) {
    return address & ~(page - 1);
}

/// The kernel copies the set of signals before it looks at what is to be done with it, which is nothing that exists.
/// Unlike process_vm_readv this takes no lock of the process' memory, and no system forbids it.
bool is_readable_page(uintptr_t address) {
    if (page_of(address) == 0) return false;  // for the kernel, null is no set
    if (page_of(address) == page_of(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)))) return true;
    constexpr long nothing = ~0L;
    constexpr uintptr_t bytes_of_set = 8;
    const auto word = static_cast<long>(address & ~(bytes_of_set - 1));
    return direct::call(SYS_rt_sigprocmask, nothing, word, 0, bytes_of_set) != -EFAULT;
}

}  // namespace

bool is_readable(const void* at, size_t bytes) {
    const auto first = reinterpret_cast<uintptr_t>(at);
    uintptr_t end = 0;
    if (bytes == 0) return true;
    if (__builtin_add_overflow(first, bytes, &end)) return false;
    for (uintptr_t address = first; address < end; address = page_of(address) + page) {
        if (!is_readable_page(address)) return false;
    }
    return true;
}

size_t length_of_text(const char* text, size_t most) {
    size_t length = 0;
    while (length < most) {
        const auto address = reinterpret_cast<uintptr_t>(text) + length;
        if (!is_readable_page(address)) return unreadable;
        const size_t on_page = page_of(address) + page - address;
        const size_t looked_at = on_page < most - length ? on_page : most - length;
        const size_t more = strnlen(text + length, looked_at);
        length += more;
        if (more < looked_at) return length;
    }
    return most;
}

bool is_readable_list(const char* const* list) {
    constexpr size_t longest_text = 131'072;  // MAX_ARG_STRLEN: the kernel takes none that is longer
    if (list == nullptr) return true;
    for (const char* text = nullptr; read(list, text); ++list) {
        if (text == nullptr) return true;
        if (length_of_text(text, longest_text) == unreadable) return false;
    }
    return false;
}

}  // namespace halcyon::calls::given
