#pragma once

#include <stdio.h>

#include <cstdint>

#include "calls/record/interception.hpp"
#include "calls/state/descriptors.hpp"

namespace halcyon::calls {

/// The C library's own.
int fflush_of_library(FILE* stream);
FILE* fopen_of_library(const char* path, const char* mode);
FILE* freopen_of_library(const char* path, const char* mode, FILE* stream);

/// False for streams of memory, in which `_fileno` may be anything, and for those of the application's own functions.
inline bool is_of_file(const FILE* stream) {
    constexpr int file_buffer = 0x2000;  // _IO_IS_FILEBUF
    return (stream->_flags & file_buffer) != 0 && stream->_fileno >= 0;
}

/// glibc's _IO_CURRENTLY_PUTTING: the buffer holds what is to be written, not what was read.
inline constexpr int putting = 0x800;

/// True of a wide stream that may hold what is to be written: how much, only the C library knows.
inline bool is_wide_and_putting(const FILE* stream) {
    return stream->_mode > 0 && (stream->_flags & putting) != 0;
}

/// Holds the lock of a stream while it lives; where its thread is cancelled meanwhile, until that ends.
class held_stream {
  public:
    explicit held_stream(FILE* stream);
    ~held_stream();
    held_stream(const held_stream&) = delete;
    held_stream& operator=(const held_stream&) = delete;

  private:
    FILE* stream_;
};

/// What one stdio call moved between a stream's buffer and its file. The C library's transfers are calls inside itself
/// that nobody can step in front of; they follow from the state of the buffer before and after:
///
///   written = waiting in the buffer before + put in by the call - waiting after
///   read    = left in the buffer after + taken out by the call - left before
///
/// Where the call does not tell how much it put in or took out, the kernel's position of the file tells.
///
/// Holds the stream's lock while it lives, so that no other thread changes the buffer between the two looks.
class stream_transfer {
  public:
    static constexpr int64_t not_known = -1;

    stream_transfer() = default;
    ~stream_transfer();
    stream_transfer(const stream_transfer&) = delete;
    stream_transfer& operator=(const stream_transfer&) = delete;

    /// Looks before the call, and fills in the record's file. False when nobody wants to see calls on this stream.
    /// `locks`: false for a call that ends the stream's life.
    bool before(call_record& record, FILE* stream, bool locks = true);

    /// The same before a call that does not tell how much it takes out: that follows from the position.
    bool before_unknown_read(call_record& record, FILE* stream);
    /// The same before a call that takes that many bytes out, or fewer at the end of the file.
    bool before_known_read(call_record& record, FILE* stream, int64_t bytes);
    /// The same before a call that takes a line out.
    bool before_line_read(call_record& record, FILE* stream);

    /// The same before a call that does not tell how much it puts in. Where the file is appended to, others may have
    /// made it longer than this descriptor's position tells.
    bool before_uncounted(call_record& record, FILE* stream);

    /// Before the call: whether it will move data if it puts so many bytes into the stream.
    [[nodiscard]] expected putting_moves(int64_t bytes) const;
    /// The same of one that puts in an unknown number.
    [[nodiscard]] expected putting_moves() const;
    /// The same of one that takes so many bytes out, or all that there are until the end of the file.
    [[nodiscard]] expected taking_moves(int64_t bytes) const;
    /// The same of one that takes an unknown number out, or a line.
    [[nodiscard]] expected taking_moves() const;
    /// The same of one that writes what waits, and does no more.
    [[nodiscard]] expected flushing_moves() const;

    /// Looks after a call that put `put` bytes into the stream and took `taken` out of it (not_known: the kernel is
    /// asked), and reports what was moved as calls made by this one.
    void after(const call_record& record, int64_t put, int64_t taken);

    /// After a call that may have moved the file's position.
    void after_seek(const call_record& record);

    /// After a call that wrote what waited, or gave what was read ahead back to the file; it read nothing.
    void after_flush(const call_record& record);

    /// Before a call that closes the file within: writes what waits, so that it is seen.
    void flush(const call_record& record);

    /// Before a call that writes what waits, and then moves the position: flushes a wide stream, of which nobody can
    /// tell afterwards how much that was.
    void flush_wide(const call_record& record);

    /// After fclose: the stream is gone, what waited in it was written if `closed`.
    void after_close(const call_record& record, bool closed);

    /// True when the buffer changed only by what a call takes out of it: nothing was moved.
    [[nodiscard]] bool nothing_moved() const;

  private:
    void look();
    void ask_for_end();
    [[nodiscard]] bool is_mapped() const;
    void follow_position();
    void report_transfer(const call_record& record, call_id function, int64_t offset, int64_t bytes);
    void wrote(const call_record& record, int64_t bytes);
    void did_read(const call_record& record, int64_t bytes);

    [[nodiscard]] bool is_unbuffered() const;

    FILE* stream_ = nullptr;
    open_file* file_ = nullptr;
    bool locked_ = false;
    bool shared_ = false;      // the description has other descriptors, too
    bool exact_ = false;       // its file is a backend's: transfers are recorded as they are made (stream_slots.hpp)
    bool holds_line_ = false;  // before_line_read: what is in the buffer has a line's end
    int fd_ = -1;
    int64_t waiting_ = 0;
    int64_t left_ = 0;
    int64_t end_ = 0;      // of a file that is appended to, where it was asked for
    int64_t offset_ = -1;  // the file's position as the stream knows it; -1: it does not
    const char* read_base_ = nullptr;
    const char* read_at_ = nullptr;
    const char* read_end_ = nullptr;
};

}  // namespace halcyon::calls
