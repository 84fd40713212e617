#include "observe/trace/section_coding.hpp"

#define ZSTD_STATIC_LINKING_ONLY  // contexts in memory of ours: nothing may allocate here
#include <zstd.h>

#include <cstring>
#include <new>

#include "observe/trace/chunk_coding.hpp"
#include "observe/trace/note_bits.hpp"
#include "observe/trace/trace_file.hpp"

namespace halcyon::observe::trace {
namespace {

using calls::call_record;

constexpr int compression_level = 1;
// From here on bits (adaptive_bits.hpp) are worth their beginning.
constexpr uint32_t fewest_records_as_bits = 16;
constexpr size_t fewest_note_bytes_as_bits = 128;

// One chunk is coded at a time, so that one set of these is enough. Untouched until the first.
alignas(64) uint64_t scratch[scratch_for(chunk_records)];
unsigned char column_planes[largest_planes(chunk_records)];
unsigned char coded[sizeof(chunk_section) + ZSTD_COMPRESSBOUND(sizeof column_planes)];

// zstd's working memory: what level 1 wants for inputs of this size, a window and a block of them included. Or else the
// model of what is written as bits.
constexpr size_t workspace_bytes = 3 << 19;
alignas(64) char workspace[workspace_bytes];

bit_model& model_in_workspace() {
    static_assert(sizeof(bit_model) <= workspace_bytes && std::is_trivially_default_constructible_v<bit_model>);
    return *new (workspace) bit_model;
}

/// What stands in `coded` behind the section's own struct.
std::span<unsigned char> behind(size_t section_bytes) {
    return std::span(coded).subspan(section_bytes);
}

/// Puts `section` and then `plain`, compressed, into `coded`; returns how many bytes, 0 when it failed. What stands
/// between two of `ends` gets tables of its own.
size_t compress(std::string_view section, std::string_view plain, std::span<const uint32_t> ends) {
    std::memcpy(coded, section.data(), section.size());
    // A fresh context each time: cheap, and right in a forked child whatever its parent was doing.
    ZSTD_CCtx* context = ZSTD_initStaticCStream(workspace, sizeof workspace);
    if (context == nullptr) return 0;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, compression_level);
    ZSTD_CCtx_setPledgedSrcSize(context, plain.size());
    const auto to = behind(section.size());
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    ZSTD_inBuffer in{plain.data(), 0, 0};
    for (const uint32_t end : ends) {
        in.size = end;
        if (ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush) != 0) return 0;
    }
    in.size = plain.size();
    return ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) != 0 ? 0 : section.size() + out.pos;
}

size_t compress_records(std::span<const call_record> records, uint32_t time_unit, chunk_section section) {
    plane_ends ends;
    section.plane_bytes = static_cast<uint32_t>(encode_columns(records, time_unit, scratch, column_planes, ends));
    const std::string_view planes(reinterpret_cast<const char*>(column_planes), section.plane_bytes);
    return compress(bytes_of(section), planes, ends.all());
}

/// The same as bits; 0 when they do not fit.
size_t write_records_as_bits(std::span<const call_record> records, uint32_t time_unit, chunk_section section) {
    section.plane_bytes = 0;
    std::memcpy(coded, &section, sizeof section);
    const size_t bytes = encode_bits(records, time_unit, scratch, model_in_workspace(), behind(sizeof section));
    return bytes == 0 ? 0 : sizeof section + bytes;
}

size_t compress_notes(std::string_view notes) {
    const notes_section section{static_cast<uint32_t>(notes.size()), notes_coding::zstd};
    return compress(bytes_of(section), notes, {});
}

size_t write_notes_as_bits(std::string_view notes) {
    const notes_section section{static_cast<uint32_t>(notes.size()), notes_coding::bits};
    std::memcpy(coded, &section, sizeof section);
    const size_t bytes = encode_notes(notes, model_in_workspace(), behind(sizeof section));
    return bytes == 0 ? 0 : sizeof section + bytes;
}

std::string_view coded_bytes(size_t bytes) {
    return {reinterpret_cast<const char*>(coded), bytes};
}

}  // namespace

std::string_view coded_chunk(std::span<const call_record> records, uint32_t time_unit, chunk_section section,
                             moment when) {
    size_t bytes = 0;
    if (when == moment::ending && records.size() >= fewest_records_as_bits)
        bytes = write_records_as_bits(records, time_unit, section);
    return coded_bytes(bytes == 0 ? compress_records(records, time_unit, section) : bytes);
}

std::string_view coded_notes(std::string_view notes, moment when) {
    size_t bytes = 0;
    if (when == moment::ending && notes.size() >= fewest_note_bytes_as_bits) bytes = write_notes_as_bits(notes);
    return coded_bytes(bytes == 0 ? compress_notes(notes) : bytes);
}

}  // namespace halcyon::observe::trace
