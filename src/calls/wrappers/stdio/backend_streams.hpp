#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "calls/backends/backend_files.hpp"
#include "calls/backends/mounted_path.hpp"

/// What the C library's functions for streams do where the file is a backend's: opening, for which the C library would
/// ask the kernel by a path; and writing to descriptors past streams. All else of a stream goes through its slots
/// (stream_slots.hpp).
namespace halcyon::calls::backend_streams {

/// fopen. Null with errno where it fails.
FILE* open(const backends::mounted_path& file, const char* mode);

/// fdopen of a descriptor of `file`.
FILE* open_on(int fd, const backends::owned_file& file, const char* mode);

/// freopen, where the stream's file or the one that it gets is a backend's. `to`: the latter; null: `path` is the
/// kernel's, or null, which opens the stream's own file anew.
FILE* reopen(FILE* stream, const backends::mounted_path* to, const char* path, const char* mode);

/// vdprintf; `checks`: as __vdprintf_chk gets them, else 0.
int print(const backends::owned_file& file, int fd, int checks, const char* format, va_list values);

/// perror, where the C library writes past standard error's stream. `file`: of that stream's descriptor.
void tell_error(const backends::owned_file& file, const char* text);
/// herror and psiginfo, which write to descriptor 2, of `file`.
void tell_host_error(const backends::owned_file& file, const char* text);
void tell_signal(const backends::owned_file& file, const void* signal, const char* text);

}  // namespace halcyon::calls::backend_streams
