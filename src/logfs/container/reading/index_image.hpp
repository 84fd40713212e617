#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/shared_layout.hpp"
#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/format/format.hpp"

/// A merged index as a file: a header, pages that readers map as they are, and tables, which they take a copy of. It is
/// for processes of one boot of one host, and of one release or another of the same version.
namespace halcyon::logfs {

inline constexpr char image_magic[8] = {'H', 'A', 'L', 'C', 'L', 'O', 'G', 'M'};
/// To be raised with each change of what is saved.
inline constexpr uint32_t image_version = 1;

/// What an image is of.
struct image_owner {
    uint64_t device = 0;  ///< of the container's directory, like the next one
    uint64_t inode = 0;
    uint64_t id = 0;  ///< container::id()
    char boot_id[boot_id_room] = {};

    friend bool operator==(const image_owner&, const image_owner&) = default;
};

struct image_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t check;         ///< of the header, with 0 here
    uint32_t tables_check;  ///< of all tables
    int64_t file_bytes;
    int64_t tables_at;
    int64_t tables_bytes;
    uint64_t entries;  ///< patterns and extents
    image_owner owner;
};
static_assert(has_copied_layout<image_header, 120, 8>());

/// Pages begin at multiples of this, which any page of a system is a part of.
inline constexpr int64_t image_page = 65536;

/// Writes an image into an empty file. A failure is kept until the end.
class image_writer {
  public:
    image_writer(file_calls& calls, memory_source& memory, int fd) : calls_(calls), fd_(fd), tables_(memory) {}

    template <class T>
    void put(const T& value) {
        put_all(std::span<const T>(&value, 1));
    }
    template <class T>
    void put_all(std::span<const T> values) {
        const auto bytes = std::as_bytes(values);
        if (!tables_.append(bytes)) fail(-ENOMEM);
    }
    /// What is written next is mapped by itself.
    void begin_pages() { at_ = (at_ + image_page - 1) / image_page * image_page; }
    void write_pages(std::span<const std::byte> bytes);
    void fail(int error) { failed_ = failed_ == 0 ? error : failed_; }
    [[nodiscard]] bool has_failed() const { return failed_ != 0; }

    /// 0, or -errno: of whatever failed first.
    int finish(const image_owner& of, uint64_t entries);

  private:
    file_calls& calls_;
    int fd_;
    page_array<std::byte> tables_;
    int64_t at_ = image_page;
    int failed_ = 0;
};

/// Reads an image. Nothing of what it hands out is believed: whoever takes it looks whether it makes sense.
class image_reader {
  public:
    image_reader(file_calls& calls, memory_source& memory, int fd)
        : calls_(calls), memory_(memory), fd_(fd), tables_(memory) {}

    /// The header alone. False: it is none of this owner's, of this version, or of a file of so many bytes.
    [[nodiscard]] bool read_header(const image_owner& of, int64_t file_bytes);
    [[nodiscard]] const image_header& header() const { return header_; }
    /// The tables, whose sum fits.
    [[nodiscard]] bool read_tables();

    /// The next of the tables. False: there is less, or no memory.
    template <class T>
    [[nodiscard]] bool take(T& out) {
        const std::span<const std::byte> bytes = next(1, sizeof(T));
        if (bytes.empty()) return false;
        std::memcpy(static_cast<void*>(&out), bytes.data(), sizeof(T));
        return true;
    }
    template <class T>
    [[nodiscard]] bool take_all(page_array<T>& into, uint64_t count) {
        if (count == 0) return true;
        const std::span<const std::byte> bytes = next(count, sizeof(T));
        const size_t before = into.size();
        if (bytes.empty() || !into.resize(before + count)) return false;
        std::memcpy(static_cast<void*>(into.data() + before), bytes.data(), bytes.size());
        return true;
    }
    /// Empty: there is less.
    [[nodiscard]] std::string_view take_text(uint64_t bytes) {
        const std::span<const std::byte> text = next(bytes, 1);
        return {reinterpret_cast<const char*>(text.data()), text.size()};
    }
    /// The next pages, as they are in the file: not even looked at.
    template <class T>
    [[nodiscard]] bool map(page_array<T>& into, uint64_t count) {
        size_t bytes = 0;
        void* const at = map_pages(count, sizeof(T), bytes);
        if (at == nullptr) return false;
        into.take_mapped(at, bytes, count);
        return true;
    }

  private:
    [[nodiscard]] std::span<const std::byte> next(uint64_t count, size_t bytes_each);
    [[nodiscard]] void* map_pages(uint64_t count, size_t bytes_each, size_t& bytes);

    file_calls& calls_;
    memory_source& memory_;
    int fd_;
    image_header header_{};
    page_array<std::byte> tables_;
    size_t taken_ = 0;
    int64_t at_ = image_page;
};

}  // namespace halcyon::logfs
