#include "observe/written_trace.hpp"

#include <unistd.h>

#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "calls/clocks/ticks.hpp"
#include "calls/record/call_table.hpp"
#include "observe/trace/record_buffer.hpp"
#include "observe/trace/trace_file.hpp"

namespace halcyon::observe::trace {

using calls::call_id;
using calls::call_record;

std::vector<call_record> usual_records(size_t count, std::mt19937_64& random) {
    std::vector<call_record> records;
    int64_t now = calls::ticks();
    uint32_t number[3] = {};
    for (size_t i = 0; i < count; ++i) {
        const auto thread = static_cast<uint32_t>(random() % 3);
        const bool writes = random() % 2 == 0;
        const auto bytes = static_cast<int64_t>(random() % 4 == 0 ? random() % 10000 : 4096);
        now += 2 * static_cast<int64_t>(random() % 500) + 2;
        const auto function = static_cast<uint16_t>(writes ? call_id::pwrite : call_id::pread);
        records.push_back({now, 2 * static_cast<int64_t>(random() % 5000), 0, static_cast<int64_t>(i * 4096), bytes,
                           bytes, bytes, 0, static_cast<uint32_t>(1 + random() % 4), thread, ++number[thread], 0,
                           function, 0, 0});
    }
    return records;
}

/// Of calls in a loop, of which some are made from elsewhere.
uint32_t usual_context(uint32_t number) {
    return number % 29 == 0 ? 0xC0000000u + number * 12345 : 100 + number % 3;
}

std::vector<call_record> nested_records(size_t count, std::mt19937_64& random) {
    std::vector<call_record> records;
    int64_t now = calls::ticks();
    uint32_t number = 0;
    const auto passes = [&](uint64_t most) { return now += 1 + static_cast<int64_t>(random() % most); };
    while (records.size() < count) {
        const int64_t start = passes(1'000'000);
        const auto file = static_cast<uint32_t>(1 + random() % 3);
        const uint32_t outer = ++number;
        const bool transfer = random() % 2 == 0;  // has the very times of the call
        const uint64_t inside = transfer ? 1 : random() % 4;
        for (uint64_t i = 0; i < inside; ++i) {
            const int64_t begins = transfer ? start : passes(500);
            const int64_t lasts = passes(40'000) - begins;
            records.push_back({begins, lasts, 0, 4096, 100, 100, 100, 0, file, 0, ++number, outer,
                               static_cast<uint16_t>(call_id::pwrite), 0, usual_context(number)});
        }
        if (!transfer) passes(300);
        records.push_back({start, now - start, 0, calls::none, 200, calls::none, 200, 0, file, 0, outer, 0,
                           static_cast<uint16_t>(call_id::pread), 0, 0});
    }
    records.resize(count);
    return records;
}

std::vector<call_record> extreme_records(size_t count, std::mt19937_64& random) {
    constexpr int64_t least = std::numeric_limits<int64_t>::min();
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    const int64_t values[] = {least, least + 2, -2, -1, 0, 2, 4096, most - 1, static_cast<int64_t>(random())};
    const auto any = [&] { return values[random() % std::size(values)]; };
    std::vector<call_record> records;
    for (size_t i = 0; i < count; ++i) {
        const auto word = static_cast<uint32_t>(any());
        records.push_back({any() & ~1, any() & ~1, any() & ~1, any(), any(), any(), any(), any(), word,
                           static_cast<uint32_t>(any()), static_cast<uint32_t>(random()), static_cast<uint32_t>(any()),
                           static_cast<uint16_t>(any()), static_cast<uint16_t>(any()), static_cast<uint32_t>(any())});
    }
    return records;
}

std::string write_trace(const tests::temporary_folder& folder, const std::string& name,
                        const std::vector<call_record>& records, bool ended) {
    auto file = std::make_unique<trace_file>();
    auto buffer = std::make_unique<record_buffer>();
    if (!file->create(folder.file(""), name) || !file->publish())
        throw std::runtime_error(folder.file(name) + ": not created");
    const process_section process{4711, 1, anchor_now(), 2, 0};
    file->append(section_kind::process, bytes_of(process), std::string("node\0/bin/program\0program a b\0boot\0", 35));
    int error = 0;
    const std::string ring = folder.file(name + ".ring");
    if (!buffer->create(ring.c_str(), 1 << 20, *file, 2, error)) throw std::runtime_error(ring + ": not created");
    for (const call_id id : {call_id::pwrite, call_id::pread}) {
        const auto& entry = calls::entry_of(static_cast<uint16_t>(id));
        const function_section section{static_cast<uint16_t>(id), static_cast<uint8_t>(entry.at),
                                       static_cast<uint8_t>(entry.does), 0};
        buffer->note(note_kind::function, bytes_of(section), entry.name);
    }
    for (uint32_t id = 1; id <= 4; ++id) {
        const file_section section{id, 0xEF53, 4096};
        buffer->note_file(section, "/data/" + std::to_string(id));
    }
    const fact_section fact{1, 0, anchor_now().ticks};
    buffer->note(note_kind::fact, bytes_of(fact), std::string("mpi.rank\0003\0", 11));
    const std::string library =
        "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022";
    buffer->note(note_kind::fact, bytes_of(fact), std::string("mpi.library\0", 12) + library + '\0');
    const absence_section absence{7};
    buffer->note(note_kind::absence, bytes_of(absence), "io_uring");
    for (const call_record& record : records) buffer->append(record);
    if (ended) {
        buffer->flush();
        const end_section end{0, 0, 0, anchor_now()};
        file->append(section_kind::end, bytes_of(end));
    }
    while (buffer->codes()) std::this_thread::yield();
    file->abandon();
    buffer->abandon();
    return folder.file(name + ".trace");
}

std::string read_bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
}

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace halcyon::observe::trace
