#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

// vsnprintf with what programs that are built with checks (_FORTIFY_SOURCE) want of formats: 0 is nothing. By another
// name, for the C library's headers declare it where this library is built so.
extern "C" int halcyon_checked_vsnprintf(char* out, size_t bytes, int checks, size_t room, const char* format,
                                         va_list values) __asm__("__vsnprintf_chk");

/// A formatted message, however long, without allocating from the application's heap.
class complete_message {
  public:
    /// `checks`: as the functions for checked programs get them (__dprintf_chk).
    complete_message(const char* format, va_list values, int checks = 0) {
        va_list again;
        va_copy(again, values);
        length_ = halcyon_checked_vsnprintf(short_, sizeof short_, checks, sizeof short_, format, values);
        if (length_ >= static_cast<int>(sizeof short_)) {
            bytes_ = static_cast<size_t>(length_) + 1;
            const long at =
                direct::call(SYS_mmap, 0, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (at > 0) {
                long_ = reinterpret_cast<char*>(at);
                halcyon_checked_vsnprintf(long_, bytes_, checks, bytes_, format, again);
            }
        }
        va_end(again);
    }
    ~complete_message() {
        if (long_ != nullptr) direct::call(SYS_munmap, direct::address(long_), bytes_);
    }
    complete_message(const complete_message&) = delete;
    complete_message& operator=(const complete_message&) = delete;

    /// Where there was no memory for it, its beginning.
    [[nodiscard]] const char* text() const { return long_ != nullptr ? long_ : short_; }
    /// Bytes of all of it; negative where it cannot be formatted, and errno says why.
    [[nodiscard]] int length() const { return length_; }
    [[nodiscard]] bool is_whole() const {
        return length_ >= 0 && (long_ != nullptr || length_ < static_cast<int>(sizeof short_));
    }

  private:
    char short_[512] = "";  // stacks may be small
    char* long_ = nullptr;
    size_t bytes_ = 0;
    int length_ = 0;
};

}  // namespace halcyon::calls
