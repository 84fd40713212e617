#include "logfs/container/reading/index_image.hpp"

#include "logfs/container/files/whole_transfer.hpp"

namespace halcyon::logfs {

void image_writer::write_pages(std::span<const std::byte> bytes) {
    if (has_failed()) return;
    if (const int done = write_whole(calls_, fd_, bytes, at_); done != 0) fail(done);
    at_ += static_cast<int64_t>(bytes.size());
}

int image_writer::finish(const image_owner& of, uint64_t entries) {
    image_header header{};
    std::memcpy(header.magic, image_magic, sizeof header.magic);
    header.version = image_version;
    header.byte_order = byte_order_mark;
    header.entries = entries;
    header.owner = of;
    header.tables_at = at_;
    header.tables_bytes = static_cast<int64_t>(tables_.size());
    header.tables_check = crc32c(tables_.all());
    header.file_bytes = header.tables_at + header.tables_bytes;
    header.check = check_of(header, 0);
    write_pages(tables_.all());
    if (has_failed()) return failed_;
    return write_whole(calls_, fd_, bytes_of(header), 0);
}

bool image_reader::read_header(const image_owner& of, int64_t file_bytes) {
    image_header found{};
    const int64_t bytes = read_whole(calls_, fd_, std::as_writable_bytes(std::span(&found, 1)), 0);
    const bool is_ours = bytes == static_cast<int64_t>(sizeof found) &&
                         std::memcmp(found.magic, image_magic, sizeof found.magic) == 0 &&
                         found.check == check_of(found, 0) && found.version == image_version &&
                         found.byte_order == byte_order_mark && found.owner == of;
    // Both are at most as long as the file: their sum is no overflow.
    const bool is_whole = found.file_bytes == file_bytes && found.tables_at >= image_page &&
                          found.tables_at <= file_bytes && found.tables_bytes >= 0 &&
                          found.tables_bytes == file_bytes - found.tables_at;
    if (!is_ours || !is_whole) return false;
    header_ = found;
    return true;
}

bool image_reader::read_tables() {
    if (!tables_.resize(static_cast<size_t>(header_.tables_bytes))) return false;
    if (read_whole(calls_, fd_, tables_.all(), header_.tables_at) != header_.tables_bytes) return false;
    return crc32c(tables_.all()) == header_.tables_check;
}

std::span<const std::byte> image_reader::next(uint64_t count, size_t bytes_each) {
    const size_t left = tables_.size() - taken_;
    if (count > left / bytes_each) return {};
    const auto found = std::span<const std::byte>(tables_.all()).subspan(taken_, count * bytes_each);
    taken_ += found.size();
    return found;
}

void* image_reader::map_pages(uint64_t count, size_t bytes_each, size_t& bytes) {
    constexpr uint64_t page = 4096;
    const auto left = static_cast<uint64_t>(header_.tables_at - at_);
    if (at_ > header_.tables_at || count == 0 || count > left / bytes_each) return nullptr;
    const uint64_t used = count * bytes_each;
    bytes = (used + page - 1) / page * page;
    void* const at = memory_.map(fd_, at_, bytes);
    at_ = (at_ + static_cast<int64_t>(used) + image_page - 1) / image_page * image_page;
    return at;
}

}  // namespace halcyon::logfs
