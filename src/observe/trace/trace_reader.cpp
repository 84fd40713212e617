#include "observe/trace/trace_reader.hpp"

#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "calls/record/call_table.hpp"
#include "observe/trace/chunk_coding.hpp"
#include "observe/trace/note_bits.hpp"
#include "observe/trace/record_buffer.hpp"

namespace halcyon::observe::trace {
namespace {

using calls::call_record;

/// Damage behind which a salvaging reader stops.
struct damage_found {
    std::string message;
};

std::string read_whole(const std::string& path) {
    std::error_code none;
    const auto status = std::filesystem::status(path, none);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))  // a pipe is waited for for ever
        throw error(error_kind::config, path + ": offset 0: a folder, pipe or device; expected a file");
    std::ifstream in(path, std::ios::binary);
    std::ostringstream all;
    if (in) all << in.rdbuf();
    if (!in) throw error(system_failure(path, errno));
    return std::move(all).str();
}

/// Wraps around: what is read may be anything.
int64_t sum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t difference(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

bool exists(const std::string& path) {
    return std::ifstream(path).good();
}

/// `count` texts that are each ended by 0; missing ones are empty.
std::vector<std::string> split(std::string_view texts, size_t count) {
    std::vector<std::string> all;
    while (all.size() < count) {
        const size_t zero = std::min(texts.find('\0'), texts.size());
        all.emplace_back(texts.substr(0, zero));
        texts.remove_prefix(std::min(zero + 1, texts.size()));
    }
    return all;
}

template <class Section>
Section copied(std::string_view bytes) {
    Section section{};
    std::memcpy(&section, bytes.data(), sizeof section);
    return section;
}

std::span<const unsigned char> as_bytes(std::string_view text) {
    return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

/// None when they are not what the section says.
std::optional<std::string> plain_notes(const notes_section& section, std::string_view coded) {
    std::string notes(section.bytes, '\0');
    bool good = false;
    if (section.coding == notes_coding::zstd)
        good = ZSTD_decompress(notes.data(), notes.size(), coded.data(), coded.size()) == notes.size();
    else if (section.coding == notes_coding::bits)
        good = decode_notes(as_bytes(coded), *std::make_unique<bit_model>(), notes);
    return good ? std::optional(std::move(notes)) : std::nullopt;
}

/// False when they are not what the section says.
bool read_records(uint32_t version, const chunk_section& section, std::string_view coded, uint32_t time_unit,
                  std::span<call_record> records) {
    std::vector<uint64_t> scratch(scratch_for(records.size()));
    if (section.plane_bytes == 0) {
        return decode_bits(version, as_bytes(coded), time_unit, scratch, *std::make_unique<bit_model>(), records);
    }
    std::string planes(section.plane_bytes, '\0');
    return ZSTD_decompress(planes.data(), planes.size(), coded.data(), coded.size()) == planes.size() &&
           decode_columns(version, as_bytes(planes), time_unit, scratch, records);
}

bool is_read(uint32_t version) {
    return version >= oldest_version_read && version <= format_version;
}

std::string ring_beside(const std::string& trace) {
    constexpr std::string_view suffix = ".trace";
    const std::string stem = trace.ends_with(suffix) ? trace.substr(0, trace.size() - suffix.size()) : trace;
    return stem + ".ring";
}

}  // namespace

void trace_reader::damaged(const std::string& file, size_t at, const std::string& what) const {
    throw damage_found{file + ": offset " + std::to_string(at) + ": " + what};
}

trace_reader::trace_reader(const std::string& path, bool salvage)
    : path_(path), ring_path_(ring_beside(path)), trace_(read_whole(path)) {
    const auto keep_what_is_good = [&](auto read) {
        try {
            read();
        } catch (const damage_found& found) {
            if (!salvage || !has_process_) throw error(error_kind::config, found.message);
            damages.push_back(found.message);
        }
    };
    ring_is_there_ = exists(ring_path_);
    keep_what_is_good([&] {
        read_header();
        read_sections();
    });
    if (!has_process_) throw error(error_kind::config, path_ + ": no process is described in it: it is cut short");
    if (ring_is_there_) {
        ring_ = read_whole(ring_path_);
        keep_what_is_good([&] { read_ring(); });
    }
    std::ranges::stable_sort(chunks_, {}, &chunk_place::sequence);
    order_anchors();
    if (end_ticks_) end_ns = to_ns(*end_ticks_);
    for (const auto& [index, ticks] : fact_ticks_) facts[index].time_ns = to_ns(ticks);
}

void trace_reader::read_header() {
    file_header header{};
    if (trace_.size() < sizeof header) damaged(path_, trace_.size(), "a trace begins with 16 bytes, here it ends");
    std::memcpy(&header, trace_.data(), sizeof header);
    if (std::memcmp(header.magic, trace_magic, sizeof header.magic) != 0) {
        damaged(path_, 0, "this is no trace of Halcyon");
    }
    if (header.byte_order != byte_order_mark) damaged(path_, 12, "written by a machine of the other byte order");
    if (!is_read(header.version)) {
        damaged(path_, 8,
                "version " + std::to_string(header.version) + "; this release reads versions " +
                    std::to_string(oldest_version_read) + " to " + std::to_string(format_version));
    }
    version_ = header.version;
}

void trace_reader::read_sections() {
    size_t at = sizeof(file_header);
    while (at < trace_.size()) {
        section_header header{};
        if (trace_.size() - at < sizeof header) {
            if (ring_is_there_) return;
            damaged(path_, at, "the file ends within a section's header");
        }
        std::memcpy(&header, trace_.data() + at, sizeof header);
        if (header.magic == 0 && header.kind == 0 && header.bytes == 0) {
            at += 8;  // a place that was reserved by a thread that did not live to use it
            continue;
        }
        if (header.magic != section_magic) damaged(path_, at, "no section begins here");
        const size_t payload = at + sizeof header;
        if (trace_.size() - payload < header.bytes) {
            if (ring_is_there_) return;  // what a killed process was about to write: its records are in the ring still
            damaged(path_, at, "the file ends within a section");
        }
        if (check_of(version_, header.kind, trace_.data() + payload, header.bytes) != header.check) {
            if (ring_is_there_ && ends_unwritten(payload, header.bytes)) {
                at = std::min(payload + filled_up(header.bytes), trace_.size());
                continue;
            }
            damaged(path_, at, "a section's bytes do not fit its check sum");
        }
        read_section(static_cast<section_kind>(header.kind), payload, header.bytes);
        at = std::min(payload + filled_up(header.bytes), trace_.size());
    }
}

/// A kill between the pieces of a write leaves zeros at the end of a section, or all of it.
bool trace_reader::ends_unwritten(size_t at, size_t bytes) const {
    constexpr size_t looked_at = 8;
    const size_t tail = std::min(bytes, looked_at);
    return trace_.find_first_not_of('\0', at + bytes - tail) >= at + bytes;
}

template <class Section>
Section trace_reader::take(size_t at, size_t bytes, const char* what) const {
    Section section{};
    if (bytes < sizeof section) damaged(path_, at, std::string("too short for ") + what);
    std::memcpy(&section, trace_.data() + at, sizeof section);
    return section;
}

void trace_reader::read_section(section_kind kind, size_t at, size_t bytes) {
    switch (kind) {
        case section_kind::process:
            return read_process(at, bytes);
        case section_kind::notes: {
            const auto section = take<notes_section>(at, bytes, "notes");
            if (section.bytes > ring_note_bytes) damaged(path_, at, "notes of an impossible size");
            const auto notes = plain_notes(section, std::string_view(trace_).substr(at, bytes).substr(sizeof section));
            if (!notes) damaged(path_, at, "notes that cannot be decompressed");
            return read_notes(path_, at, *notes);
        }
        case section_kind::chunk: {
            const auto section = take<chunk_section>(at, bytes, "a chunk");
            if (section.count == 0 || section.count > largest_chunk ||
                section.plane_bytes > largest_planes(section.count)) {
                damaged(path_, at, "a chunk of an impossible size");
            }
            anchors_.push_back(section.now);
            chunks_.push_back({section.sequence, at, bytes, section.count, false});
            return;
        }
        case section_kind::end: {
            const auto section = take<end_section>(at, bytes, "an end");
            if (section.how > static_cast<uint32_t>(calls::ending::abort))
                damaged(path_, at, "an end that is not known");
            ended = static_cast<calls::ending>(section.how);
            lost = section.lost;
            end_ticks_ = section.now.ticks;
            anchors_.push_back(section.now);
            return;
        }
    }
    damaged(path_, at, "a section of a kind that is not known");
}

void trace_reader::read_process(size_t at, size_t bytes) {
    const auto section = take<process_section>(at, bytes, "a process");
    const auto all = split(std::string_view(trace_).substr(at + sizeof section, bytes - sizeof section), 4);
    if (section.time_unit_ticks == 0) damaged(path_, at, "times in units of 0");
    pid = section.pid;
    parent_pid = section.parent_pid;
    start_ns = section.start.monotonic_ns;
    start_realtime_ns = section.start.realtime_ns;
    time_unit_ = section.time_unit_ticks;
    host = all[0];
    program = all[1];
    command = all[2];
    clock = all[3];
    anchors_.push_back(section.start);
    has_process_ = true;
}

void trace_reader::read_notes(const std::string& file, size_t at, std::string_view notes) {
    note_reader reader(notes);
    while (!reader.at_end()) {
        const auto note = reader.next();
        if (!note) damaged(file, at, "notes that cannot be taken apart");
        if (!take_note(*note)) damaged(file, at, "a function of a level or kind that is not known");
    }
}

/// False for a function that makes no sense.
bool trace_reader::take_note(const note_reader::note& note) {
    switch (note.kind) {
        case note_kind::function: {
            const auto section = copied<function_section>(note.section);
            if (section.level > static_cast<uint8_t>(calls::level::log) ||
                section.kind > static_cast<uint8_t>(calls::kind::control)) {
                return false;
            }
            functions[section.id] = {note.text, static_cast<calls::level>(section.level),
                                     static_cast<calls::kind>(section.kind)};
            return true;
        }
        case note_kind::file:
        case note_kind::next_file: {
            const auto section = copied<file_section>(note.section);
            files.push_back({section.id, note.text, section.block_bytes, section.filesystem});
            return true;
        }
        case note_kind::fact: {
            const auto section = copied<fact_section>(note.section);
            auto pair = split(note.text, 2);
            fact_ticks_.emplace_back(facts.size(), section.ticks);
            facts.push_back({section.file, 0, std::move(pair[0]), std::move(pair[1])});
            return true;
        }
        case note_kind::absence: {
            absences.push_back({note.text, copied<absence_section>(note.section).count});
            return true;
        }
    }
    return false;
}

void trace_reader::read_ring() {
    if (ring_.size() < ring_chunks_at)
        damaged(ring_path_, ring_.size(), "a ring begins with 65536 bytes, here it ends");
    const auto& header = *reinterpret_cast<const ring_header*>(ring_.data());
    if (std::memcmp(header.magic, ring_magic, sizeof header.magic) != 0) {
        // All zeros: the process was killed before it had written the header, and thus before any call.
        if (ring_.find_first_not_of('\0') == std::string::npos) return;
        damaged(ring_path_, 0, "this is no ring of Halcyon");
    }
    if (!is_read(header.version) || header.byte_order != byte_order_mark) {
        damaged(ring_path_, 8, "another version or byte order than this release reads");
    }
    if (header.record_bytes != sizeof(call_record) || header.chunk_records == 0 ||
        header.chunk_records > largest_chunk || header.chunk_count > ring_header::most_chunks) {
        damaged(ring_path_, 16, "chunks of an impossible size");
    }
    anchors_.push_back(header.last);
    const uint32_t note_bytes = header.note_bytes.load();
    if (note_bytes > ring_note_bytes) damaged(ring_path_, 0, "notes of an impossible size");
    read_notes(ring_path_, ring_header_bytes, std::string_view(ring_).substr(ring_header_bytes, note_bytes));
    if (!ended) lost = header.lost.load();  // it had no place to tell
    if (const uint32_t shut_out = header.shut_out.load(); shut_out > 0)
        absences.push_back({std::string(shut_out_processes), shut_out});
    const uint32_t how = header.ended.load();
    if (!ended && how > 0 && how <= static_cast<uint32_t>(calls::ending::abort) + 1) {
        ended = static_cast<calls::ending>(how - 1);
        end_ticks_ = header.last.ticks;
    }
    const size_t chunk_bytes = filled_up(size_t{header.chunk_records} * sizeof(call_record));
    const size_t stride = (chunk_bytes + 4095) / 4096 * 4096;
    for (uint32_t i = 0; i < header.chunk_count; ++i) {
        const auto& chunk = header.chunks[i];
        if (chunk.state.load() == ring_header::unused) continue;
        const uint64_t sequence = chunk.sequence.load();
        // Written to the trace already, and killed before the slots were given back.
        if (std::ranges::any_of(chunks_, [&](const chunk_place& c) { return !c.ring && c.sequence == sequence; }))
            continue;
        const size_t at = ring_chunks_at + i * stride;
        if (at + size_t{header.chunk_records} * sizeof(call_record) > ring_.size()) {
            damaged(ring_path_, ring_.size(), "the file ends within a chunk");
        }
        chunks_.push_back({sequence, at, 0, header.chunk_records, true});
    }
}

void trace_reader::order_anchors() {
    std::ranges::sort(anchors_, {}, &anchor::ticks);
    const auto same = [](const anchor& a, const anchor& b) { return a.ticks == b.ticks; };
    anchors_.erase(std::unique(anchors_.begin(), anchors_.end(), same), anchors_.end());
}

/// On the line through the two anchors around `ticks`, or through the outermost two that are far enough from each
/// other.
int64_t trace_reader::to_ns(int64_t ticks) const {
    if (anchors_.empty()) return ticks;
    if (anchors_.size() < 2) return sum(anchors_[0].monotonic_ns, difference(ticks, anchors_[0].ticks));
    auto after = std::ranges::upper_bound(anchors_, ticks, {}, &anchor::ticks);
    if (after == anchors_.begin()) ++after;
    if (after == anchors_.end()) --after;
    const anchor& right = *after;
    // Close anchors make a poor slope: the left one is as far back as it can be for a point outside.
    const bool outside = ticks >= right.ticks || ticks < (after - 1)->ticks;
    const anchor& left = outside ? anchors_.front() : *(after - 1);
    const double slope = (static_cast<double>(right.monotonic_ns) - static_cast<double>(left.monotonic_ns)) /
                         (static_cast<double>(right.ticks) - static_cast<double>(left.ticks));
    const double ns = slope * static_cast<double>(difference(ticks, left.ticks));
    constexpr double limit = 9e18;
    return ns < limit && ns > -limit ? sum(left.monotonic_ns, static_cast<int64_t>(ns)) : left.monotonic_ns;
}

std::vector<call_record> trace_reader::chunk(size_t index) const {
    const chunk_place& place = chunks_.at(index);
    std::vector<call_record> records(place.records);
    if (place.ring) {
        std::memcpy(static_cast<void*>(records.data()), ring_.data() + place.at, records.size() * sizeof(call_record));
        std::erase_if(records, [](const call_record& r) { return r.start == 0 || r.start == calls::abandoned; });
    } else {
        chunk_section section{};
        std::memcpy(&section, trace_.data() + place.at, sizeof section);
        const std::string_view coded = std::string_view(trace_).substr(place.at, place.bytes).substr(sizeof section);
        if (!read_records(version_, section, coded, time_unit_, records)) {
            throw error(error_kind::config,
                        path_ + ": offset " + std::to_string(place.at) + ": a chunk cannot be taken apart");
        }
    }
    for (call_record& record : records) {
        if (!functions.contains(record.function)) {
            throw error(error_kind::config, (place.ring ? ring_path_ : path_) + ": offset " + std::to_string(place.at) +
                                                ": a call of a function that is not named");
        }
        // The end is converted, too: so that calls that follow one another do not overlap by rounding.
        const int64_t end = to_ns(sum(record.start, record.duration));
        record.start = to_ns(record.start);
        record.duration = difference(end, record.start);
        if (record.wait == 0) continue;
        const anchor& first = anchors_.front();
        record.wait = difference(to_ns(sum(record.wait, first.ticks)), first.monotonic_ns);
    }
    return records;
}

}  // namespace halcyon::observe::trace
