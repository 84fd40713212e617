#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "observe/trace/trace_format.hpp"

/// Notes: what a trace says besides calls (names of functions and files, facts, absences), one after the other. Most
/// are paths, and most paths are like the one before: a path is stored without the part it shares with that, and
/// without its number and file system where these are the expected ones. Notes are collected in the ring, where a
/// killed process leaves them, and go to the trace compressed, many at a time.
namespace halcyon::observe::trace {

enum class note_kind : uint8_t {
    function = 1,  ///< function_section, its name
    file,          ///< file_section, the rest of its path
    next_file,     ///< as file, but number and file system follow from the file before
    fact,          ///< fact_section, key and value: each ended by 0
    absence,       ///< absence_section, the subject
};

struct note_header {
    uint8_t kind;
    uint8_t shared;       ///< leading bytes of the path that are the same as in the path before
    uint16_t text_bytes;  ///< after the section
};
static_assert(has_copied_layout<note_header, 4, 2>());

inline constexpr size_t section_bytes(note_kind kind) {
    switch (kind) {
        case note_kind::function:
            return sizeof(function_section);
        case note_kind::file:
            return sizeof(file_section);
        case note_kind::next_file:
            return 0;
        case note_kind::fact:
            return sizeof(fact_section);
        case note_kind::absence:
            return sizeof(absence_section);
    }
    return 0;
}

/// The text of a note that is put together where it will stay.
class note_text {
  public:
    note_text(char* memory, size_t room) : memory_(memory), room_(room) {}

    void add(char character) {
        full_ = full_ || used_ == room_;
        if (!full_) memory_[used_++] = character;
    }
    void add(std::string_view text) {
        for (const char character : text) add(character == '\0' ? ' ' : character);
    }
    /// With zeros in front up to `digits`.
    void add_hexadecimal(uint64_t value, int digits) {
        while (digits < 16 && value >> 4 * digits != 0) ++digits;
        while (digits-- > 0) add("0123456789abcdef"[value >> 4 * digits & 0xF]);
    }
    [[nodiscard]] size_t used() const { return used_; }
    [[nodiscard]] bool full() const { return full_; }

  private:
    char* memory_;
    size_t room_;
    size_t used_ = 0;
    bool full_ = false;
};

/// Writes notes into memory of its owner. One thread at a time.
class note_writer {
  public:
    void begin(char* memory, size_t room) {
        memory_ = memory;
        room_ = room;
        used_ = 0;
        path_bytes_ = 0;
        file_ = {};
    }
    [[nodiscard]] size_t used() const { return used_; }

    /// False when there is no room left.
    bool add(note_kind kind, std::string_view section, std::string_view text) {
        return put(kind, 0, section, text.substr(0, UINT16_MAX));
    }

    /// The same with a text that `write(note_text&)` puts together.
    template <class Write>
    bool add_written(note_kind kind, std::string_view section, Write write) {
        const size_t head = sizeof(note_header) + section.size();
        if (head > room_ - used_) return false;
        const size_t left = room_ - used_ - head;
        note_text text(memory_ + used_ + head, left < UINT16_MAX ? left : UINT16_MAX);
        write(text);
        if (text.full()) return false;
        const note_header header{static_cast<uint8_t>(kind), 0, static_cast<uint16_t>(text.used())};
        std::memcpy(memory_ + used_, &header, sizeof header);
        std::memcpy(memory_ + used_ + sizeof header, section.data(), section.size());
        used_ += head + text.used();
        return true;
    }

    bool add_file(const file_section& file, std::string_view path) {
        path = path.substr(0, sizeof path_);
        size_t shared = 0;
        const size_t most = path.size() < path_bytes_ ? path.size() : path_bytes_;
        while (shared < most && shared < UINT8_MAX && path[shared] == path_[shared]) ++shared;
        const bool expected =
            file.id == file_.id + 1 && file.block_bytes == file_.block_bytes && file.filesystem == file_.filesystem;
        const std::string_view section(reinterpret_cast<const char*>(&file), expected ? 0 : sizeof file);
        if (!put(expected ? note_kind::next_file : note_kind::file, static_cast<uint8_t>(shared), section,
                 path.substr(shared))) {
            return false;
        }
        std::memcpy(path_, path.data(), path.size());
        path_bytes_ = path.size();
        file_ = file;
        return true;
    }

  private:
    bool put(note_kind kind, uint8_t shared, std::string_view section, std::string_view text) {
        const note_header header{static_cast<uint8_t>(kind), shared, static_cast<uint16_t>(text.size())};
        if (sizeof header + section.size() + text.size() > room_ - used_) return false;
        char* at = memory_ + used_;
        std::memcpy(at, &header, sizeof header);
        std::memcpy(at + sizeof header, section.data(), section.size());
        std::memcpy(at + sizeof header + section.size(), text.data(), text.size());
        used_ += sizeof header + section.size() + text.size();
        return true;
    }

    char* memory_ = nullptr;
    size_t room_ = 0;
    size_t used_ = 0;
    char path_[8192] = {};
    size_t path_bytes_ = 0;
    file_section file_{};
};

/// Takes notes apart again.
class note_reader {
  public:
    struct note {
        note_kind kind;  ///< never next_file: completed
        std::string_view section;
        std::string text;  ///< with what it shares
    };

    explicit note_reader(std::string_view notes) : rest_(notes) {}

    [[nodiscard]] bool at_end() const { return rest_.empty(); }

    /// None where the bytes are no notes.
    std::optional<note> next() {
        note_header header{};
        if (rest_.size() < sizeof header) return std::nullopt;
        std::memcpy(&header, rest_.data(), sizeof header);
        auto kind = static_cast<note_kind>(header.kind);
        if (kind < note_kind::function || kind > note_kind::absence) return std::nullopt;
        const size_t section = section_bytes(kind);
        if (rest_.size() - sizeof header < section + header.text_bytes || header.shared > path_.size())
            return std::nullopt;
        note found{kind, rest_.substr(sizeof header, section), {}};
        const std::string_view text = rest_.substr(sizeof header + section, header.text_bytes);
        rest_.remove_prefix(sizeof header + section + header.text_bytes);
        if (kind != note_kind::file && kind != note_kind::next_file) {
            found.text = text;
            return found;
        }
        if (kind == note_kind::next_file)
            ++file_.id;
        else
            std::memcpy(&file_, found.section.data(), sizeof file_);
        path_ = path_.substr(0, header.shared) + std::string(text);
        found.kind = note_kind::file;
        found.section = {reinterpret_cast<const char*>(&file_), sizeof file_};
        found.text = path_;
        return found;
    }

  private:
    std::string_view rest_;
    std::string path_;
    file_section file_{};
};

}  // namespace halcyon::observe::trace
