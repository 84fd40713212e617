#include "logfs/container/directory/marking.hpp"

#include <fcntl.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <span>

#include "logfs/container/directory/marker.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"

namespace halcyon::logfs {
namespace {

/// The path of a file in a folder, which may be as long as two paths. Stacks may be small: a long one lies in pages.
class inner_path {
  public:
    inner_path(file_calls& calls, std::string_view folder) : memory_(calls), end_(folder.size()) {
        if (end_ + longest_name > sizeof short_ && end_ < 2 * PATH_MAX)
            text_ = static_cast<char*>(memory_.take(end_ + longest_name));
        if (!fits()) return;
        std::memcpy(text_, folder.data(), end_);
        text_[end_++] = '/';
    }
    ~inner_path() {
        if (text_ != nullptr && text_ != short_) memory_.give_back(text_, end_ - 1 + longest_name);
    }
    inner_path(const inner_path&) = delete;
    inner_path& operator=(const inner_path&) = delete;
    [[nodiscard]] bool fits() const { return text_ != nullptr && end_ < 2 * PATH_MAX; }
    [[nodiscard]] const char* to(std::string_view name) {
        std::memcpy(text_ + end_, name.data(), name.size());
        text_[end_ + name.size()] = '\0';
        return text_;
    }
    [[nodiscard]] const char* to_folder() { return to("."); }

  private:
    static constexpr size_t longest_name = 64;
    memory_source memory_;
    size_t end_;
    char short_[320];
    char* text_ = short_;
};

bool is_plain_file(file_calls& calls, int directory, const char* path) {
    struct stat there {};
    return calls.status_at(directory, path, there) == 0 && S_ISREG(there.st_mode);
}

/// As a creation leaves them, or the first write.
bool has_parts_of_container(file_calls& calls, int directory, const char* folder) {
    bool found = false;
    memory_source memory(calls);
    const int listed = names_in(calls, memory, directory, folder, [&](std::string_view name) {
        uint32_t number = 0;
        found = name == descriptor_name || parse_host_directory(name, number);
        return found ? 1 : 0;
    });
    return found || listed < 0;
}

marking likely_by(file_calls& calls, int directory, inner_path& at) {
    if (!at.fits()) return marking::none;
    if (is_plain_file(calls, directory, at.to(marker_name))) return marking::ours;
    return is_plain_file(calls, directory, at.to(plfs_access_name)) ? marking::plfs : marking::none;
}

bool is_marker(file_calls& calls, int directory, inner_path& at) {
    const int fd = calls.open_at(directory, at.to(marker_name), marker_flags, 0);
    if (fd < 0) return fd != -ENOENT && fd != -ELOOP;  // something else has the name by now
    char text[marker::room];
    const int64_t bytes = read_beginning(calls, fd, std::as_writable_bytes(std::span(text)));
    calls.close(fd);
    if (bytes < 0 || marker::begins({text, static_cast<size_t>(bytes)})) return true;
    return has_parts_of_container(calls, directory, at.to_folder());
}

}  // namespace

marking likely_marking_of(file_calls& calls, int directory, std::string_view folder) {
    inner_path at(calls, folder);
    return likely_by(calls, directory, at);
}

marking marking_of(file_calls& calls, int directory, std::string_view folder) {
    inner_path at(calls, folder);
    const marking likely = likely_by(calls, directory, at);
    if (likely != marking::ours || is_marker(calls, directory, at)) return likely;
    return is_plain_file(calls, directory, at.to(plfs_access_name)) ? marking::plfs : marking::none;
}

}  // namespace halcyon::logfs
