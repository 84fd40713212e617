#include "observe/trace/note_bits.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "observe/trace/notes.hpp"

namespace halcyon::observe::trace {
namespace {

std::unique_ptr<bit_model> model = std::make_unique<bit_model>();

std::vector<unsigned char> bits_of(const std::string& notes) {
    std::vector<unsigned char> out(2 * notes.size() + 100);
    out.resize(encode_notes(notes, *model, out));
    return out;
}

std::string text_of(const std::vector<unsigned char>& bits, size_t bytes) {
    std::string notes(bytes, '?');
    EXPECT_TRUE(decode_notes(bits, *model, notes));
    return notes;
}

template <class Section>
std::string_view bytes_of(const Section& section) {
    return {reinterpret_cast<const char*>(&section), sizeof section};
}

/// Of a process that opens many files: every kind of note.
std::string usual_notes() {
    std::string memory(60000, '\0');
    note_writer writer;
    writer.begin(memory.data(), memory.size());
    for (uint32_t id = 1; id < 300; ++id) {
        const file_section file{id, id % 50 == 0 ? 0x6969U : 0xEF53U, 4096};
        writer.add_file(file, "/usr/lib/openmpi/mca_" + std::to_string(id * id % 97) + "_part.so");
        const function_section function{static_cast<uint16_t>(id), 3, 2, 0};
        if (id % 9 == 0) writer.add(note_kind::function, bytes_of(function), "function" + std::to_string(id));
        const fact_section fact{id, 0, 123456789 * int64_t{id}};
        if (id % 20 == 0) writer.add(note_kind::fact, bytes_of(fact), std::string("mpi.rank\0003\0", 11));
        const absence_section absence{id};
        if (id % 30 == 0) writer.add(note_kind::absence, bytes_of(absence), id % 60 == 0 ? "" : "io_uring");
    }
    return memory.substr(0, writer.used());
}

TEST(note_bits, give_back_what_went_in) {
    const std::string notes = usual_notes();
    const auto bits = bits_of(notes);
    EXPECT_EQ(text_of(bits, notes.size()), notes);
    EXPECT_LT(bits.size(), notes.size() / 4);
}

TEST(note_bits, give_back_what_are_no_notes) {
    std::mt19937_64 random(5);
    for (const size_t count : {size_t{0}, size_t{1}, size_t{5}, size_t{3000}}) {
        std::string bytes(count, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        EXPECT_EQ(text_of(bits_of(bytes), count), bytes) << count;
    }
}

TEST(note_bits, of_paths_longer_than_are_remembered) {
    std::string memory(60000, '\0');
    note_writer writer;
    writer.begin(memory.data(), memory.size());
    for (uint32_t id = 1; id <= 3; ++id)
        ASSERT_TRUE(writer.add_file({id, 1, 1}, std::string(id, 'a') + std::string(9000, 'x')));
    const std::string notes = memory.substr(0, writer.used());
    EXPECT_EQ(text_of(bits_of(notes), notes.size()), notes);
}

TEST(note_bits, that_are_damaged_are_read_as_something) {
    std::mt19937_64 random(6);
    const std::string notes = usual_notes().substr(0, 2000);
    const auto bits = bits_of(notes);
    std::string found(notes.size(), '\0');
    for (int round = 0; round < 60; ++round) {
        auto damaged = bits;
        damaged[random() % damaged.size()] = static_cast<unsigned char>(random());
        decode_notes(damaged, *model, found);  // sanitizers watch
    }
    auto longer = bits;
    longer.push_back(0);
    EXPECT_FALSE(decode_notes(longer, *model, found));
    EXPECT_EQ(text_of(bits, notes.size()), notes);
}

TEST(note_bits, that_do_not_fit_are_not_written) {
    const std::string notes = usual_notes();
    const size_t needed = bits_of(notes).size();
    std::vector<unsigned char> out(needed, 0xEE);
    EXPECT_EQ(encode_notes(notes, *model, std::span(out).first(needed - 1)), 0U);
    EXPECT_EQ(out.back(), 0xEE);
    EXPECT_EQ(encode_notes(notes, *model, out), needed);
}

}  // namespace
}  // namespace halcyon::observe::trace
