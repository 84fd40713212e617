#include "observe/trace/note_bits.hpp"

#include "observe/trace/notes.hpp"

namespace halcyon::observe::trace {
namespace {

/// Where in a note the next byte stands, and in which contexts others like it were seen.
class note_place {
  public:
    void begin() { std::memset(static_cast<void*>(this), 0, sizeof *this); }

    [[nodiscard]] std::array<uint32_t, bit_model::inputs> contexts() const {
        return in_text() ? text_contexts() : field_contexts();
    }
    /// Text, or a field: what is said of one is not to be believed of the other.
    [[nodiscard]] uint32_t weights() const { return in_text() ? (word_ == 0 ? 1 : 0) : 2; }

    void learn(unsigned char byte) {
        if (in_text())
            learn_text(byte);
        else
            learn_field(byte);
        if (at_ >= sizeof(note_header) && at_ == section_end() + length_) end_note();
    }

  private:
    static constexpr size_t longest_path = 8192;
    static constexpr size_t fields = sizeof(note_header) + sizeof(fact_section);

    [[nodiscard]] size_t section_end() const {
        return sizeof(note_header) + section_bytes(static_cast<note_kind>(kind_));
    }
    [[nodiscard]] bool in_text() const { return at_ >= sizeof(note_header) && at_ >= section_end(); }
    [[nodiscard]] bool is_path() const {
        return kind_ == static_cast<uint8_t>(note_kind::file) || kind_ == static_cast<uint8_t>(note_kind::next_file);
    }

    [[nodiscard]] std::array<uint32_t, bit_model::inputs> field_contexts() const {
        const auto place = static_cast<uint32_t>(at_ << 8 | kind_) | 1u << 24;
        const uint32_t same = at_ < fields ? before_[kind_ % kinds][at_] : 0;
        return {place,
                hashed(place + (1u << 25), last_),
                hashed(place + (2u << 25), same),
                hashed(place + (3u << 25), hashed(last_, same)),
                hashed(place + (4u << 25), kind_before_),
                hashed(place + (5u << 25), hashed(kind_before_, same))};
    }

    [[nodiscard]] std::array<uint32_t, bit_model::inputs> text_contexts() const {
        const auto left = static_cast<uint32_t>(section_end() + length_ - at_);
        const uint32_t near = left < 8 ? left : 8;
        return {hashed(1u << 28, near << 8 | (tail_ & 0xFF)),
                hashed(2u << 28, tail_ & 0xFF),
                hashed(3u << 28, tail_ & 0xFFFF),
                hashed(4u << 28, tail_ & 0xFFFFFF),
                hashed(5u << 28, tail_),
                hashed(6u << 28, word_)};
    }

    void learn_field(unsigned char byte) {
        if (at_ == offsetof(note_header, kind)) {
            kind_before_ = kind_;
            kind_ = byte;
        }
        if (at_ == offsetof(note_header, shared)) shared_ = byte;
        if (at_ == offsetof(note_header, text_bytes)) length_ = byte;
        if (at_ == offsetof(note_header, text_bytes) + 1) length_ |= static_cast<size_t>(byte) << 8;
        if (at_ < fields) before_[kind_ % kinds][at_] = byte;
        last_ = byte;
        ++at_;
        if (in_text()) begin_text();
    }

    /// A path goes on behind what it shares with the one before.
    void begin_text() {
        tail_ = is_path() ? 0 : kind_;
        word_ = tail_;
        if (!is_path()) return;
        path_bytes_ = shared_ < path_bytes_ ? shared_ : path_bytes_;
        for (size_t i = path_bytes_ < 16 ? 0 : path_bytes_ - 16; i < path_bytes_; ++i) take(path_[i]);
    }

    void learn_text(unsigned char byte) {
        take(byte);
        if (is_path() && path_bytes_ < longest_path) path_[path_bytes_++] = byte;
        ++at_;
    }

    void take(unsigned char byte) {
        tail_ = tail_ << 8 | byte;
        const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        word_ = letter ? hashed(word_, byte) : byte;
    }

    void end_note() {
        at_ = 0;
        length_ = 0;
        last_ = 0;
    }

    static constexpr size_t kinds = 8;
    size_t at_ = 0;  // in the note
    size_t length_ = 0;
    size_t shared_ = 0;
    uint32_t kind_ = 0;
    uint32_t kind_before_ = 0;
    uint32_t last_ = 0;
    uint32_t tail_ = 0;  // the last four bytes of the text
    uint32_t word_ = 0;
    unsigned char before_[kinds][fields] = {};
    size_t path_bytes_ = 0;
    unsigned char path_[longest_path] = {};
};

template <class Coder>
unsigned char pass_byte(Coder& coder, unsigned char byte, const note_place& place) {
    const auto contexts = place.contexts();
    bit_model::question asked{};
    asked.weights = place.weights();
    uint32_t known = 1;
    for (int bit = 7; bit >= 0; --bit) {
        for (size_t i = 0; i < contexts.size(); ++i) asked.contexts[i] = contexts[i] + known * 0x85EBCA6Bu;
        known = known * 2 + (coder.bit((byte >> bit & 1) != 0, asked) ? 1 : 0);
    }
    return static_cast<unsigned char>(known);
}

}  // namespace

size_t encode_notes(std::string_view notes, bit_model& model, std::span<unsigned char> out) {
    static note_place place;  // too large for the stacks of some threads
    place.begin();
    model.begin();
    bit_encoder coder(model, out);
    for (const char byte : notes) place.learn(pass_byte(coder, static_cast<unsigned char>(byte), place));
    const size_t bytes = coder.end();
    return coder.full() ? 0 : bytes;
}

bool decode_notes(std::span<const unsigned char> bits, bit_model& model, std::span<char> notes) {
    note_place place;
    model.begin();
    bit_decoder coder(model, bits);
    for (char& byte : notes) {
        const unsigned char found = pass_byte(coder, 0, place);
        byte = static_cast<char>(found);
        place.learn(found);
    }
    return coder.at_end();
}

}  // namespace halcyon::observe::trace
