#include "observe/trace/trace_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "calls/record/call_table.hpp"
#include "observe/trace/record_buffer.hpp"
#include "observe/written_trace.hpp"

namespace halcyon::observe::trace {
namespace {

std::vector<calls::call_record> all_calls(const trace_reader& reader) {
    std::vector<calls::call_record> all;
    for (size_t i = 0; i < reader.chunk_count(); ++i) {
        const auto chunk = reader.chunk(i);
        all.insert(all.end(), chunk.begin(), chunk.end());
    }
    return all;
}

/// What becomes of reading a damaged trace: nothing, or an error that names the file and, but for whole files that
/// cannot be read, an offset. Anything else fails the test.
bool read_or_refuse(const std::string& path, bool salvage) {
    try {
        const trace_reader reader(path, salvage);
        all_calls(reader);
        return true;
    } catch (const error& why) {
        const std::string message = why.what();
        EXPECT_NE(message.find(path.substr(0, path.rfind('.'))), std::string::npos) << message;
        EXPECT_TRUE(message.find("offset") != std::string::npos || message.find("cut short") != std::string::npos)
            << message;
        return false;
    }
}

struct trace_reader_test : testing::TestWithParam<bool> {
    tests::temporary_folder folder;
    std::mt19937_64 random{3};
    std::vector<calls::call_record> records = usual_records(9000, random);
    std::string path = write_trace(folder, "whole", records, GetParam());
};

TEST_P(trace_reader_test, gives_back_every_call) {
    const trace_reader reader(path);
    EXPECT_EQ(reader.pid, 4711);
    EXPECT_EQ(reader.command, "program a b");
    EXPECT_EQ(reader.files.size(), 4U);
    EXPECT_EQ(reader.facts.at(0).value, "3");
    EXPECT_EQ(reader.absences.at(0).count, 7U);
    EXPECT_EQ(reader.ended.has_value(), GetParam());
    EXPECT_EQ(reader.lost, 0U);
    auto found = all_calls(reader);
    ASSERT_EQ(found.size(), records.size());
    const auto order = [](const auto& a, const auto& b) {
        return std::tie(a.thread, a.number) < std::tie(b.thread, b.number);
    };
    std::ranges::sort(found, order);
    std::ranges::sort(records, order);
    for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].offset, records[i].offset);
        ASSERT_EQ(found[i].moved, records[i].moved);
        ASSERT_EQ(found[i].function, records[i].function);
    }
}

INSTANTIATE_TEST_SUITE_P(ends, trace_reader_test, testing::Values(true, false));

struct damaged_trace : testing::TestWithParam<bool> {
    tests::temporary_folder folder;
    std::mt19937_64 random{4};
    std::string whole = read_bytes(write_trace(folder, "whole", usual_records(20, random), true));
    std::string path = folder.file("damaged.trace");
};

TEST_P(damaged_trace, cut_anywhere) {
    for (size_t length = 0; length < whole.size(); ++length) {
        write_bytes(path, whole.substr(0, length));
        const bool read = read_or_refuse(path, GetParam());
        if (length < sizeof(file_header) + sizeof(section_header)) {
            EXPECT_FALSE(read) << length;
        }
    }
}

TEST_P(damaged_trace, any_byte_changed_is_noticed) {
    for (size_t at = 0; at < whole.size(); ++at) {
        for (const int flip : {0x01, 0xFF}) {
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ flip);
            write_bytes(path, changed);
            if (GetParam()) {
                read_or_refuse(path, true);
                continue;
            }
            if (!read_or_refuse(path, false)) continue;
            // Only what fills a section up to a multiple of 8 may be anything.
            const trace_reader reader(path);
            EXPECT_EQ(all_calls(reader).size(), 20U) << at;
            EXPECT_EQ(whole[at], '\0') << at;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(salvage, damaged_trace, testing::Values(false, true));

struct damaged_ring : testing::Test {
    tests::temporary_folder folder;
    std::mt19937_64 random{5};
    std::string path = write_trace(folder, "killed", usual_records(20, random), false);
    std::string ring = folder.file("killed.ring");
    std::string whole = read_bytes(ring);
};

TEST_F(damaged_ring, any_byte_of_its_header_changed) {
    for (size_t at = 0; at < sizeof(ring_header); at += 5) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0xFF);
        write_bytes(ring, changed);
        read_or_refuse(path, false);
        read_or_refuse(path, true);
    }
}

TEST_F(damaged_ring, cut_anywhere_near_its_parts) {
    for (const size_t length :
         {size_t{0}, size_t{1}, size_t{63}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{4096 + 88 * 20}}) {
        write_bytes(ring, whole.substr(0, length));
        EXPECT_FALSE(read_or_refuse(path, false)) << length;
        const trace_reader salvaged(path, true);
        EXPECT_EQ(salvaged.damages.size(), 1U);
    }
}

TEST_F(damaged_ring, killed_before_it_was_begun) {
    write_bytes(ring, std::string(whole.size(), '\0'));
    EXPECT_TRUE(all_calls(trace_reader(path)).empty());
}

TEST_F(damaged_ring, a_section_that_was_being_written_is_no_damage) {
    const std::string trace = read_bytes(path);
    section_header header{section_magic, static_cast<uint32_t>(section_kind::chunk), 800, 12345};
    std::string torn(reinterpret_cast<const char*>(&header), sizeof header);
    torn += std::string(300, 'x');
    write_bytes(path, trace + torn);  // the file ends within it
    EXPECT_EQ(all_calls(trace_reader(path)).size(), 20U);
    write_bytes(path, trace + torn + std::string(500, '\0'));  // another section was written behind it
    EXPECT_EQ(all_calls(trace_reader(path)).size(), 20U);
}

TEST(trace_reader, gives_back_chunks_that_cannot_be_compressed) {
    const tests::temporary_folder folder;
    std::mt19937_64 random(14);
    auto records = extreme_records(9000, random);
    for (auto& record : records) {
        record.function = static_cast<uint16_t>(calls::call_id::pwrite);
        record.start |= 2;  // 0 would be a slot that is not written
        record.offset = static_cast<int64_t>(random());
        record.bytes = static_cast<int64_t>(random());
        record.result = static_cast<int64_t>(random());
        record.argument = static_cast<int64_t>(random());
    }
    const trace_reader reader(write_trace(folder, "run", records, true));
    EXPECT_EQ(reader.lost, 0U);
    const auto found = all_calls(reader);
    ASSERT_EQ(found.size(), records.size());
    for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].offset, records[i].offset) << i;
        ASSERT_EQ(found[i].argument, records[i].argument) << i;
    }
}

/// What sections of a trace there are, and how they are written.
std::vector<std::string> sections_of(const std::string& trace) {
    std::vector<std::string> found;
    section_header header{};
    for (size_t at = sizeof(file_header); at < trace.size(); at += sizeof header + filled_up(header.bytes)) {
        std::memcpy(&header, trace.data() + at, sizeof header);
        const char* payload = trace.data() + at + sizeof header;
        if (header.kind == static_cast<uint32_t>(section_kind::chunk)) {
            chunk_section section{};
            std::memcpy(&section, payload, sizeof section);
            found.emplace_back(section.plane_bytes == 0 ? "chunk as bits" : "chunk in planes");
        }
        if (header.kind == static_cast<uint32_t>(section_kind::notes)) {
            notes_section section{};
            std::memcpy(&section, payload, sizeof section);
            found.emplace_back(section.coding == notes_coding::bits ? "notes as bits" : "notes by zstd");
        }
    }
    return found;
}

TEST(trace_reader, reads_what_is_written_when_a_chunk_is_full_and_at_the_end) {
    const tests::temporary_folder folder;
    std::mt19937_64 random(15);
    const auto records = nested_records(4300, random);
    const std::string path = write_trace(folder, "run", records, true);
    // A full chunk is coded while the process runs, or with the rest where it ends before the coding thread has begun.
    std::vector<std::string> sections = sections_of(read_bytes(path));
    ASSERT_EQ(sections.size(), 3u);
    EXPECT_TRUE(sections.front() == "chunk in planes" || sections.front() == "chunk as bits") << sections.front();
    sections.erase(sections.begin());
    const std::vector<std::string> expected = {"chunk as bits", "notes as bits"};
    EXPECT_EQ(sections, expected);
    const auto found = all_calls(trace_reader(path));
    ASSERT_EQ(found.size(), records.size());
    for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].number, records[i].number) << i;
        ASSERT_EQ(found[i].parent, records[i].parent) << i;
        ASSERT_EQ(found[i].file, records[i].file) << i;
        ASSERT_EQ(found[i].context, records[i].context) << i;
    }
}

/// What an earlier build of this version, and of those that are still read, wrote is read as it was meant: whoever
/// changes what is written gives it a new version, makes these files anew, and keeps those of the last version.
TEST(trace_reader, reads_what_earlier_builds_wrote) {
    for (const std::string name : {"ended", "nested", "ended.version2", "nested.version2"}) {
        const bool nested = name.starts_with("nested");
        const trace_reader reader(HALCYON_TRACE_CORPUS "/" + name + ".trace");
        EXPECT_EQ(reader.command, "program a b");
        ASSERT_EQ(reader.files.size(), 4U);
        EXPECT_EQ(reader.files[3].path, "/data/4");
        EXPECT_EQ(reader.absences.at(0).subject, "io_uring");
        const auto found = all_calls(reader);
        ASSERT_EQ(found.size(), nested ? 4140U : 30U);
        for (size_t i = 0; i < found.size(); ++i) {
            const bool has_context = name == "nested" && found[i].parent != 0;
            ASSERT_EQ(found[i].context != 0, has_context) << i;
            if (!nested) {
                EXPECT_EQ(found[i].offset, static_cast<int64_t>(i) * 4096);
            } else {
                ASSERT_EQ(found[i].result, found[i].parent == 0 ? 200 : 100) << i;
                ASSERT_LE(found[i].file, 3U) << i;
            }
        }
    }
}

TEST(trace_reader, refuses_other_versions) {
    const tests::temporary_folder folder;
    std::mt19937_64 random(6);
    const std::string path = write_trace(folder, "run", usual_records(3, random), true);
    std::string bytes = read_bytes(path);
    for (const int version : {1, 5}) {
        bytes[8] = static_cast<char>(version);
        write_bytes(path, bytes);
        try {
            trace_reader reader(path);
            FAIL() << "was read";
        } catch (const error& why) {
            EXPECT_EQ(why.what(),
                      path + ": offset 8: version " + std::to_string(version) + "; this release reads versions 2 to 4");
        }
    }
}

}  // namespace
}  // namespace halcyon::observe::trace
