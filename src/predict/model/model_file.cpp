#include "predict/model/model_file.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "predict/grammar/file_check.hpp"
#include "predict/model/archive.hpp"

namespace halcyon::predict {

namespace {

constexpr std::string_view magic = model_file_magic;
constexpr size_t check_at = 24;
constexpr size_t header_bytes = model_file::header_bytes;

uint64_t sum_of(std::span<const unsigned char> bytes) {
    return check_sum(bytes, mixed(bytes.size()));
}

template <class Archive>
void each_class(const file_names& names, Archive& archive) {
    archive.number(names.classes());
    for (uint32_t i = 1; i <= names.classes(); ++i) {
        const file_names::last_of_class last = names.last_of(i);
        archive.text(last.path);
        for (const int64_t step : last.steps) archive.number(step);
        for (const uint8_t places : last.places) archive.number(places);
    }
}

void write(const process_models& of, archive_writer& archive) {
    for (const char c : magic) archive.number(c);
    archive.number(model_file_version);
    archive.number(static_cast<uint32_t>(of.models.size()));
    archive.number(uint64_t{0});  // bytes of the file
    archive.number(uint64_t{0});  // check sum
    each_class(of.names, archive);
    archive.number(of.labels.size());
    for (uint32_t i = 0; i < of.labels.size(); ++i) {
        archive.number(of.labels[i].of);
        archive.number(of.labels[i].number);
        archive.text(of.labels.text_of(of.labels[i]));
    }
    for (const model* one : of.models) model::each_field(*one, archive, [](uint32_t name_class) { return name_class; });
}

void put(std::span<unsigned char> out, size_t at, uint64_t value) {
    archive_writer(out.subspan(at, 8)).number(value);
}

/// The numbers of classes of files in a file, and those of the same classes here.
class translated_classes {
  public:
    explicit translated_classes(calls::memory_bound& memory) : own_(memory) {}

    void read(archive_reader& archive, file_names& names) {
        uint32_t count = 0;
        archive.number(count);
        for (uint32_t i = 0; i < count && archive.good(); ++i) {
            file_names::last_of_class last;
            last.path = archive.text(file_names::longest_path);
            for (int64_t& step : last.steps) archive.number(step);
            for (uint8_t& places : last.places) archive.number(places);
            if (archive.good() && !own_.push(names.adopt(last))) archive.fail(archive_reader::too_large);
        }
    }
    [[nodiscard]] uint32_t operator()(uint32_t there) const {
        if (there == symbol_table::any_class || there == file_names::unknown) return there;
        return there - 1 < own_.size() ? own_[there - 1] : static_cast<uint32_t>(file_names::unknown);
    }

  private:
    calls::growing_array<uint32_t> own_;
};

void read_labels(archive_reader& archive, label_table& labels) {
    uint32_t count = 0;
    archive.number(count);
    for (uint32_t i = 0; i < count && archive.good(); ++i) {
        label_table::subject of{};
        uint32_t number = 0;
        archive.number(of);
        archive.number(number);
        const std::string_view text = archive.text(label_table::longest);
        if (of > label_table::subject::context) archive.fail("a label of an unknown subject");
        if (archive.good() && !labels.name(of, number, text)) archive.fail(archive_reader::too_large);
    }
}

}  // namespace

size_t saved_bytes(const process_models& of) {
    archive_writer counting;
    write(of, counting);
    return counting.written();
}

bool save(const process_models& of, std::span<unsigned char> out) {
    archive_writer archive(out);
    write(of, archive);
    if (!archive.good() || archive.written() != out.size()) return false;
    put(out, check_at - 8, out.size());
    put(out, check_at, sum_of(out.subspan(header_bytes)));
    return true;
}

std::optional<failure> model_file::read_header(std::span<const unsigned char> begin, uint64_t file_bytes,
                                               std::string_view name, model_file& opened, uint64_t& sum) {
    if (begin.size() < header_bytes || std::memcmp(begin.data(), magic.data(), magic.size()) != 0)
        return wrong_at_byte(0, "no saved model: such a file begins with HALCMODL and has 32 bytes at least", name);
    archive_reader header(begin.subspan(magic.size()));
    uint32_t version = 0;
    uint64_t length = 0;
    header.number(version);
    header.number(opened.models_);
    header.number(length);
    header.number(sum);
    if (version != model_file_version)
        return wrong_at_byte(magic.size(),
                             "version " + std::to_string(version) + "; this release reads version " +
                                 std::to_string(model_file_version) + ": let the program learn anew",
                             name);
    if (length != file_bytes)
        return wrong_at_byte(check_at - 8,
                             "a length of " + std::to_string(length) + " bytes, and the file has " +
                                 std::to_string(file_bytes) + ": cut off, or not whole",
                             name);
    if (length > largest_file_bytes) return too_large_a_file(length, name);
    return std::nullopt;
}

std::optional<failure> model_file::check_header(std::span<const unsigned char> begin, uint64_t file_bytes,
                                                std::string_view name) {
    model_file unread;
    uint64_t sum = 0;
    return read_header(begin, file_bytes, name, unread, sum);
}

std::optional<failure> model_file::open(std::span<const unsigned char> bytes, std::string_view name,
                                        model_file& opened) {
    uint64_t sum = 0;
    if (auto wrong = read_header(bytes, bytes.size(), name, opened, sum)) return wrong;
    if (sum != sum_of(bytes.subspan(header_bytes)))
        return wrong_at_byte(check_at, "the check sum is that of other contents: the file is damaged", name);
    opened.bytes_ = bytes;
    opened.name_ = name;
    return std::nullopt;
}

std::optional<failure> model_file::load(file_names& names, label_table& labels, std::span<model* const> into) const {
    archive_reader archive(bytes_.subspan(header_bytes));
    calls::memory_bound memory(SIZE_MAX);
    translated_classes classes(memory);
    classes.read(archive, names);
    read_labels(archive, labels);
    for (size_t i = 0; i < std::min<size_t>(into.size(), models_) && archive.good(); ++i)
        model::each_field(*into[i], archive, classes);
    if (into.size() >= models_ && archive.at() + header_bytes < bytes_.size())
        archive.fail("bytes that belong to no model");
    if (archive.good()) return std::nullopt;
    const bool room = std::strcmp(archive.what(), archive_reader::too_large) == 0;
    return wrong_at_byte(header_bytes + archive.where(), archive.what(), name_,
                         room ? error_kind::usage : error_kind::config);
}

}  // namespace halcyon::predict
