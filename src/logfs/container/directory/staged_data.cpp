#include "logfs/container/directory/staged_data.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <utility>

#include "base/crc32c.hpp"
#include "logfs/container/files/whole_transfer.hpp"

namespace halcyon::logfs {
namespace {

constexpr std::string_view first_line = "halcyon staged data\nversion 1\nhost ";
constexpr std::string_view folder_line = "\nfolder ";
constexpr std::string_view check_line = "\ncheck ";

short_name with_prefix(std::string_view dropping, std::string_view prefix) {
    const size_t slash = dropping.rfind('/');
    const std::string_view folder =
        slash == std::string_view::npos ? std::string_view() : dropping.substr(0, slash + 1);
    const std::string_view name = dropping.substr(folder.size());
    const size_t dot = name.find('.');
    return short_name(folder).add(prefix).add(dot == std::string_view::npos ? name : name.substr(dot + 1));
}

std::string_view file_of(const short_name& path) {
    return path.view().substr(path.view().rfind('/') + 1);
}

/// A text that goes together from parts, as far as there is room.
class joined {
  public:
    joined(char* out, size_t room) : out_(out), room_(room) {}
    joined& add(std::string_view text) {
        fits_ = fits_ && used_ + text.size() < room_;
        if (!fits_) return *this;
        std::memcpy(out_ + used_, text.data(), text.size());
        used_ += text.size();
        out_[used_] = '\0';
        return *this;
    }
    joined& add(uint64_t number) { return add(short_name().add(number).view()); }
    [[nodiscard]] size_t used() const { return fits_ ? used_ : 0; }

  private:
    char* out_;
    size_t room_;
    size_t used_ = 0;
    bool fits_ = true;
};

/// What goes before `next`; both go from the text. False: it is not there.
bool take_until(std::string_view& text, std::string_view next, std::string_view& out) {
    const size_t at = text.find(next);
    if (at == std::string_view::npos) return false;
    out = text.substr(0, at);
    text.remove_prefix(at + next.size());
    return true;
}

uint32_t check_of_text(std::string_view text) {
    return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

/// As staged_mark::may_mean().
bool is_of_mark(container& in, std::string_view dropping, const struct stat& data) {
    if (::geteuid() != 0) return true;
    file_calls& calls = in.calls();
    struct stat mark {};
    struct stat whole {};
    return calls.status_at(in.directory(), staged_name(dropping).c_str(), mark) == 0 &&
           calls.status(in.directory(), whole) == 0 && (data.st_uid == mark.st_uid || data.st_uid == whole.st_uid);
}

/// Asked before the mark goes, which says whose the file is. False, too: there is none.
bool may_remove(container& in, std::string_view dropping, const char* path) {
    struct stat data {};
    return in.calls().status_at(AT_FDCWD, path, data) == 0 && is_of_mark(in, dropping, data);
}

/// The end of each folder's name: so a mark can name no file but those that lie there for it.
short_name end_of_folder(uint64_t container_id) {
    return short_name("/").add(stage_folder).add("/").add(container_id);
}

}  // namespace

short_name staged_name(std::string_view dropping) {
    return with_prefix(dropping, staged_prefix);
}

short_name copied_name(std::string_view dropping) {
    return with_prefix(dropping, copied_prefix);
}

bool is_staged_name(std::string_view name) {
    return name.starts_with(staged_prefix) || name.starts_with(copied_prefix);
}

void staged_mark::set(std::string_view host, std::string_view stage, uint64_t container_id) {
    host_length_ = std::min(host.size(), sizeof host_ - 1);
    std::memcpy(host_, host.data(), host_length_);
    host_[host_length_] = '\0';
    folder_[0] = '\0';
    joined(folder_, sizeof folder_).add(stage.substr(0, longest_stage)).add(end_of_folder(container_id).view());
}

void staged_mark::path_of(std::string_view dropping, char* out, size_t room) const {
    const short_name data = with_kind(dropping, dropping_kind::data);
    joined path(out, room);
    path.add(folder_).add("/").add(file_of(data));
    if (path.used() == 0) out[0] = '\0';
}

size_t staged_mark::text(char* out) const {
    joined all(out, room);
    all.add(first_line).add(host()).add(folder_line).add(folder_);
    const uint32_t check = check_of_text({out, all.used()});
    return all.add(check_line).add(uint64_t{check}).add("\n").used();
}

bool staged_mark::parse(std::string_view text, uint64_t container_id) {
    const std::string_view whole = text;
    if (!text.starts_with(first_line)) return false;
    text.remove_prefix(first_line.size());
    std::string_view host;
    std::string_view folder;
    if (!take_until(text, folder_line, host) || !take_until(text, check_line, folder)) return false;
    const std::string_view checked = whole.substr(0, whole.size() - text.size() - check_line.size());
    uint32_t check = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), check);
    const bool is_whole = error == std::errc() && std::string_view(end, static_cast<size_t>(text.end() - end)) == "\n";
    if (!is_whole || check != check_of_text(checked)) return false;
    if (host.size() >= sizeof host_ || folder.size() >= sizeof folder_) return false;
    if (!folder.starts_with('/') || !folder.ends_with(end_of_folder(container_id).view())) return false;
    std::memcpy(host_, host.data(), host.size());
    host_[host_length_ = host.size()] = '\0';
    std::memcpy(folder_, folder.data(), folder.size());
    folder_[folder.size()] = '\0';
    return true;
}

int staged_mark::read(container& in, std::string_view dropping) {
    file_calls& calls = in.calls();
    const int fd = calls.open_at(in.directory(), staged_name(dropping).c_str(), O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0) return fd;
    char text[room];
    const int64_t bytes = read_beginning(calls, fd, std::as_writable_bytes(std::span(text)));
    calls.close(fd);
    if (bytes < 0) return static_cast<int>(bytes);
    return parse({text, static_cast<size_t>(bytes)}, in.id()) ? 0 : -EIO;
}

bool staged_mark::may_mean(container& in, std::string_view dropping, int fd) {
    struct stat data {};
    return in.calls().status(fd, data) == 0 && is_of_mark(in, dropping, data);
}

int staged_mark::write(container& in, std::string_view dropping) const {
    file_calls& calls = in.calls();
    char text[room];
    const size_t size = this->text(text);
    if (size == 0 || folder_[0] == '\0') return -ENAMETOOLONG;
    const short_name name = staged_name(dropping);
    const int fd = calls.open_at(in.directory(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0) return fd;
    int done = write_whole(calls, fd, std::as_bytes(std::span(text, size)), 0);
    const int closed = calls.close(fd);
    if (done == 0) done = closed;
    if (done == 0)
        in.share(name.c_str(), 0444);
    else
        calls.remove_at(in.directory(), name.c_str(), false);
    return done;
}

int brought_data::open(std::string_view dropping) {
    if (fd_ >= 0) return 0;
    const short_name name = copied_name(dropping);
    const int fd =
        container_.calls().open_at(container_.directory(), name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW, 0644);
    if (fd < 0) return fd;
    fd_ = fd;
    container_.share(name.c_str(), 0444);
    return 0;
}

int brought_data::copy(int from, int64_t begin, int64_t end) {
    constexpr size_t room = size_t{1} << 20;
    file_calls& calls = container_.calls();
    auto* const buffer = static_cast<std::byte*>(calls.take_pages(room));
    if (buffer == nullptr) return -ENOMEM;
    int done = 0;
    for (int64_t at = begin; at < end && done == 0;) {
        const auto wanted = static_cast<size_t>(std::min(static_cast<int64_t>(room), end - at));
        const int64_t bytes = read_whole(calls, from, {buffer, wanted}, at);
        // What its index names is in the file, unless something else has cut that.
        if (bytes <= 0) {
            done = bytes < 0 ? static_cast<int>(bytes) : -EIO;
            break;
        }
        done = write_whole(calls, fd_, {buffer, static_cast<size_t>(bytes)}, at);
        at += bytes;
    }
    calls.return_pages(buffer, room);
    return done;
}

int brought_data::sync() {
    return container_.calls().sync(fd_);
}

int64_t brought_data::size() {
    struct stat file {};
    const int done = container_.calls().status(fd_, file);
    return done == 0 ? int64_t{file.st_size} : done;
}

void brought_data::close() {
    if (fd_ >= 0) container_.calls().close(std::exchange(fd_, -1));
}

int brought_data::finish(container& to, std::string_view dropping, const staged_mark& from) {
    file_calls& calls = to.calls();
    const short_name data = with_kind(dropping, dropping_kind::data);
    const short_name copied = copied_name(dropping);
    const int renamed = calls.rename_at(to.directory(), copied.c_str(), to.directory(), data.c_str(), 0);
    struct stat there {};
    // Another has been here, up to some step.
    if (renamed != 0 && (renamed != -ENOENT || calls.status_at(to.directory(), data.c_str(), there) != 0))
        return renamed;
    uint32_t number = 0;
    if (!parse_host_directory(data.view().substr(0, data.view().find('/')), number)) return -EINVAL;
    if (const int synced = to.sync(number); synced != 0) return synced;
    to.note_index_named(data.c_str());
    char path[staged_path_room];
    from.path_of(dropping, path, sizeof path);
    const bool is_its = may_remove(to, dropping, path);
    const int removed = calls.remove_at(to.directory(), staged_name(dropping).c_str(), false);
    if (removed != 0 && removed != -ENOENT) return removed;
    const int gone = is_its ? calls.remove_at(AT_FDCWD, path, false) : 0;
    return gone == -ENOENT ? 0 : gone;
}

void brought_data::discard(container& to, std::string_view dropping, const staged_mark& from) {
    file_calls& calls = to.calls();
    char path[staged_path_room];
    from.path_of(dropping, path, sizeof path);
    const bool is_its = may_remove(to, dropping, path);
    calls.remove_at(to.directory(), copied_name(dropping).c_str(), false);
    calls.remove_at(to.directory(), staged_name(dropping).c_str(), false);
    if (is_its) calls.remove_at(AT_FDCWD, path, false);
}

}  // namespace halcyon::logfs
