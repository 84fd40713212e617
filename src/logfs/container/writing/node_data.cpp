#include "logfs/container/writing/node_data.hpp"

#include <fcntl.h>

#include <cerrno>

namespace halcyon::logfs {
namespace {

/// Behind all data: it is locked for the moment in which a piece is taken.
constexpr int64_t place_of_taking = INT64_MAX - 4096;

int64_t rounded_up(int64_t bytes) {
    constexpr int64_t piece = node_data::piece_bytes;
    return bytes > INT64_MAX - piece ? INT64_MAX / piece * piece : (bytes + piece - 1) / piece * piece;
}

/// `hostdir.7/node.<host>`: the names in a host directory may be of several hosts.
short_name name_for(std::string_view data_name, std::string_view host) {
    short_name name(data_name.substr(0, data_name.rfind('/') + 1));
    name.add(node_prefix);
    for (const char letter : host) name.add(letter == '/' ? "_" : std::string_view(&letter, 1));
    return name;
}

}  // namespace

int node_data::open(container& in, std::string_view data_name, std::string_view host) {
    file_calls& calls = in.calls();
    const short_name shared = name_for(data_name, host);
    const int fd = calls.open_at(in.directory(), shared.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0644);
    if (fd < 0) return fd;
    in.share(shared.c_str(), 0666);
    const int linked = calls.make_hard_link_at(in.directory(), shared.c_str(), short_name(data_name).c_str());
    if (linked == 0) return fd;
    calls.close(fd);
    return linked;
}

int64_t node_data::take(file_calls& calls, int fd, int64_t bytes) {
    if (const int locked = calls.lock_part(fd, place_of_taking, 1, true, true); locked != 0) return locked;
    struct stat file {};
    int64_t done = calls.status(fd, file);
    if (done == 0) {
        const int64_t begin = rounded_up(file.st_size);
        const int64_t end = rounded_up(bytes > INT64_MAX - begin ? INT64_MAX : begin + bytes);
        const int grown = begin + bytes > end ? -EFBIG : calls.set_size(fd, end);
        done = grown == 0 ? begin : grown;
    }
    calls.unlock_part(fd, place_of_taking, 1);
    return done;
}

}  // namespace halcyon::logfs
