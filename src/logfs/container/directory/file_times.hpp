#pragma once

#include <cstdint>
#include <ctime>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

/// Times that a program gave to the logical file, as the file `times` in its container keeps them. They hold until
/// something is written later than `as_of_ns`: no clock of the file system is compared with that of a writer.
struct file_times {
    int64_t as_of_ns = 0;  ///< the latest write by then (reader::latest_ns())
    timespec accessed{};
    timespec modified{};
};

/// False: none were given, or what was written of them is not whole.
bool read_times(const container& of, file_times& out);
result<void> write_times(container& of, const file_times& times);

}  // namespace halcyon::logfs
