#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string_view>

/// Names in a container: `halcyon-container`, `hostdir.<n>/index.<host>.<pid>.<created>` and `hostdir.<n>/data.…`.
namespace halcyon::logfs {

inline constexpr std::string_view marker_name = "halcyon-container";
/// Its time is that of the last publication, and its locks (fcntl) are those of the file (the file backend).
inline constexpr std::string_view descriptor_name = "halcyon-descriptor";
inline constexpr std::string_view punched_name = "punched";
inline constexpr std::string_view append_lock_name = "append-lock";
inline constexpr std::string_view times_name = "times";
inline constexpr std::string_view host_directory_prefix = "hostdir.";
inline constexpr std::string_view index_prefix = "index.";
inline constexpr std::string_view data_prefix = "data.";
inline constexpr std::string_view node_prefix = "node.";
inline constexpr uint32_t most_host_directories = 1024;

/// In the mode of a data dropping: the name of its index dropping has been on the device. Without it, data that no
/// index names are what a crash of the node left of a writer that had synced nothing. With it, their index was lost
/// later.
inline constexpr mode_t index_named = S_IXUSR;

enum class dropping_kind : uint8_t { index, data };

/// A name relative to the container, ended by 0. What does not fit is cut off: no name of ours is that long.
class short_name {
  public:
    static constexpr size_t room = 224;

    short_name() = default;
    explicit short_name(std::string_view text) { add(text); }
    short_name& add(std::string_view text) {
        size_ += text.copy(text_ + size_, room - 1 - size_);
        text_[size_] = '\0';
        return *this;
    }
    short_name& add(uint64_t number);

    [[nodiscard]] const char* c_str() const { return text_; }
    [[nodiscard]] std::string_view view() const { return {text_, size_}; }

  private:
    char text_[room] = {};
    size_t size_ = 0;
};

/// What the name of a dropping says: who wrote it.
struct dropping_name {
    std::string_view host;
    int64_t pid = 0;
    int64_t created_ns = 0;
    dropping_kind kind = dropping_kind::index;
};

/// False for any other file.
bool parse_dropping_name(std::string_view name, dropping_name& out);

/// `hostdir.7`: 7. False for any other name.
bool parse_host_directory(std::string_view name, uint32_t& out);

/// The directory for the droppings of a host, of so many.
uint32_t host_directory_of(std::string_view host, uint32_t directories);

short_name host_directory_name(uint32_t number);

/// `hostdir.7/index.node1.4711.1700000000000000000`. A slash in the host's name becomes an underscore.
short_name dropping_path(uint32_t host_directory, const dropping_name& name);

/// The other one of the two droppings of a writer: `index.x` and `data.x`.
short_name with_kind(std::string_view name, dropping_kind kind);

}  // namespace halcyon::logfs
