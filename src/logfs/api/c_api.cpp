// logfs.h: what is done with handles. path_api.cpp has what is done with paths.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "halcyon/logfs.h"
#include "logfs/api/open_handles.hpp"
#include "logfs/api/opening_of.hpp"
#include "logfs/api/reported.hpp"
#include "logfs/api/status_of.hpp"
#include "logfs/direct/files_of_process.hpp"

using halcyon::failure;
using halcyon::result;
using halcyon::logfs::log_file;
using halcyon::logfs::api::all_given;
using halcyon::logfs::api::argument;
using halcyon::logfs::api::open_handles;
using halcyon::logfs::api::reported;

namespace {

uint64_t number_of(halcyon_logfs_handle h) {
    return reinterpret_cast<uintptr_t>(h);
}

/// Runs `body` with an open file, or refuses in the name of `call`.
template <class Body>
int with(const char* call, halcyon_logfs_handle h, std::initializer_list<argument> arguments, const Body& body) {
    return reported([&]() -> result<void> {
        open_handles::use held;
        if (auto begun = open_handles::of_process().begin(held, call, number_of(h)); !begun) return begun;
        if (auto given = all_given(call, arguments); !given) return given;
        return body(held.file());
    });
}

/// Of `bytes` bytes at `data`, which may be null where there are none.
argument data_argument(const char* name, const void* data, uint64_t bytes) {
    static constexpr char nothing = 0;
    return {name, bytes == 0 ? &nothing : data};
}

failure too_many(const char* call, uint64_t bytes) {
    return {halcyon::error_kind::usage,
            std::string(call) + ": " + std::to_string(bytes) + " bytes are more than a file has", EINVAL};
}

/// All of it: fewer bytes at the end of the file only.
result<void> read_all(log_file& from, std::span<std::byte> out, int64_t offset, uint64_t& done) {
    do {
        auto read = from.read(offset + static_cast<int64_t>(done), out.subspan(done));
        if (!read) return read.why();
        if (*read == 0) return {};
        done += static_cast<uint64_t>(*read);
    } while (done < out.size());
    return {};
}

result<void> write_all(log_file& to, std::span<const std::byte> data, int64_t offset, uint64_t& done) {
    do {
        auto written = to.write(offset + static_cast<int64_t>(done), data.subspan(done));
        if (!written) return written.why();
        done += static_cast<uint64_t>(*written);
    } while (done < data.size());
    return {};
}

}  // namespace

extern "C" {

int halcyon_logfs_open(const char* path, unsigned mode, const halcyon_logfs_options* options, halcyon_logfs_handle* h) {
    return reported([&]() -> result<void> {
        constexpr const char* call = "halcyon_logfs_open";
        if (auto given = all_given(call, {{"h", h}}); !given) return given;
        *h = nullptr;
        if (auto given = all_given(call, {{"path", path}}); !given) return given;
        auto asked = halcyon::logfs::opening_of(mode, options);
        if (!asked) return asked.why();
        auto made = std::make_unique<halcyon::logfs::api::opened_file>(halcyon::logfs::files_of_process());
        made->stage = asked->how.writing.stage;
        made->backends = asked->how.backends;
        asked->how.writing.stage = made->stage;
        asked->how.backends = made->backends;
        if (auto opened = made->file.open(path, asked->who, asked->how); !opened) return opened;
        const auto handle = open_handles::of_process().add(std::move(made));
        if (!handle) return handle.why();
        *h = reinterpret_cast<halcyon_logfs_handle>(static_cast<uintptr_t>(*handle));
        return {};
    });
}

int halcyon_logfs_pread(halcyon_logfs_handle h, void* buffer, uint64_t bytes, int64_t offset, uint64_t* done) {
    constexpr const char* call = "halcyon_logfs_pread";
    uint64_t read = 0;
    const int code = with(call, h, {data_argument("buffer", buffer, bytes)}, [&](log_file& file) -> result<void> {
        if (bytes > INT64_MAX) return too_many(call, bytes);
        return read_all(file, {static_cast<std::byte*>(buffer), bytes}, offset, read);
    });
    if (done != nullptr) *done = read;
    return code;
}

int halcyon_logfs_pwrite(halcyon_logfs_handle h, const void* data, uint64_t bytes, int64_t offset, uint64_t* done) {
    constexpr const char* call = "halcyon_logfs_pwrite";
    uint64_t written = 0;
    const int code = with(call, h, {data_argument("data", data, bytes)}, [&](log_file& file) -> result<void> {
        if (bytes > INT64_MAX) return too_many(call, bytes);
        return write_all(file, {static_cast<const std::byte*>(data), bytes}, offset, written);
    });
    if (done != nullptr) *done = written;
    return code;
}

/// A second piece of what there was no room for might lie elsewhere.
int halcyon_logfs_append(halcyon_logfs_handle h, const void* data, uint64_t bytes, int64_t* offset, uint64_t* done) {
    constexpr const char* call = "halcyon_logfs_append";
    uint64_t written = 0;
    const int code = with(call, h, {data_argument("data", data, bytes)}, [&](log_file& file) -> result<void> {
        if (bytes > INT64_MAX) return too_many(call, bytes);
        const auto appended = file.append(std::span(static_cast<const std::byte*>(data), bytes));
        if (!appended) return appended.why();
        if (offset != nullptr) *offset = appended->offset;
        written = static_cast<uint64_t>(appended->bytes);
        if (written == bytes) return {};
        return halcyon::system_failure(std::string(file.of().path()) + ": there was room for " +
                                           std::to_string(written) + " of " + std::to_string(bytes) + " bytes",
                                       ENOSPC);
    });
    if (done != nullptr) *done = written;
    return code;
}

int halcyon_logfs_truncate(halcyon_logfs_handle h, int64_t bytes) {
    return with("halcyon_logfs_truncate", h, {}, [&](log_file& file) { return file.truncate(bytes); });
}

int halcyon_logfs_erase(halcyon_logfs_handle h, int64_t offset, int64_t bytes) {
    return with("halcyon_logfs_erase", h, {}, [&](log_file& file) { return file.erase(offset, bytes); });
}

int halcyon_logfs_size(halcyon_logfs_handle h, int64_t* bytes) {
    return with("halcyon_logfs_size", h, {{"bytes", bytes}}, [&](log_file& file) -> result<void> {
        const auto size = file.size();
        if (!size) return size.why();
        *bytes = *size;
        return {};
    });
}

int halcyon_logfs_status(halcyon_logfs_handle h, halcyon_logfs_status_t* status) {
    constexpr const char* call = "halcyon_logfs_status";
    return with(call, h, {{"status", status}},
                [&](log_file& file) { return halcyon::logfs::api::give_status(call, file, *status); });
}

int halcyon_logfs_refresh(halcyon_logfs_handle h) {
    return with("halcyon_logfs_refresh", h, {}, [](log_file& file) { return file.refresh(); });
}

int halcyon_logfs_settle(halcyon_logfs_handle h) {
    return with("halcyon_logfs_settle", h, {}, [](log_file& file) { return file.settle(); });
}

int halcyon_logfs_sync(halcyon_logfs_handle h) {
    return with("halcyon_logfs_sync", h, {}, [](log_file& file) { return file.sync(); });
}

int halcyon_logfs_propose_epoch(halcyon_logfs_handle h, int64_t* time_ns) {
    return with("halcyon_logfs_propose_epoch", h, {{"time_ns", time_ns}}, [&](log_file& file) -> result<void> {
        *time_ns = file.propose_epoch();
        return {};
    });
}

int halcyon_logfs_raise_epoch(halcyon_logfs_handle h, int64_t time_ns) {
    return with("halcyon_logfs_raise_epoch", h, {}, [&](log_file& file) { return file.raise_epoch(time_ns); });
}

int halcyon_logfs_close(halcyon_logfs_handle* h) {
    return reported([&]() -> result<void> {
        constexpr const char* call = "halcyon_logfs_close";
        if (auto given = all_given(call, {{"h", h}}); !given) return given;
        bool is_closed = false;
        auto closed = open_handles::of_process().close(call, number_of(*h), is_closed);
        if (is_closed) *h = nullptr;
        return closed;
    });
}
}
