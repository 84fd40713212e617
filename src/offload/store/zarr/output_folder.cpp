#include "offload/store/zarr/output_folder.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/rename_over.hpp"
#include "base/sync_path.hpp"
#include "offload/store/zarr/format.hpp"

namespace halcyon::offload::zarr {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, int saved_errno) {
    throw error(system_failure(what, saved_errno));
}

void make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) != 0) fail(path + ": cannot create", errno);
}

void write_whole(const descriptor& file, std::span<const std::byte> bytes, const std::string& path) {
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t n = ::write(file.get(), bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(path + ": cannot write " + std::to_string(bytes.size()) + " bytes", n < 0 ? errno : EIO);
        done += static_cast<size_t>(n);
    }
}

}  // namespace

output_folder::output_folder(std::string temporary, durability how) : temporary_(std::move(temporary)), how_(how) {
    std::error_code why;
    fs::remove_all(temporary_, why);
    if (why) fail(temporary_ + ": cannot remove what was left there", why.value());
    make_folder(temporary_);
    folders_.push_back(temporary_);
}

output_folder::~output_folder() {
    std::error_code none;
    if (!published_) fs::remove_all(temporary_, none);
}

void output_folder::add_folder(const std::string& path) {
    folders_.push_back(temporary_ + "/" + path);
    make_folder(folders_.back());
}

void output_folder::add_file(const std::string& path, std::span<const std::byte> bytes) {
    const std::string whole = temporary_ + "/" + path;
    descriptor file(::open(whole.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file) fail(whole + ": cannot create", errno);
    write_whole(file, bytes, whole);
    if (how_ == durability::synced && ::fsync(file.get()) != 0) fail(whole + ": cannot sync", errno);
    // Network file systems report a full disk or a used-up quota here.
    if (::close(file.release()) != 0 && errno != EINTR) fail(whole + ": cannot close", errno);
    bytes_ += static_cast<int64_t>(bytes.size());
}

int64_t output_folder::publish(const std::string& path) {
    if (how_ == durability::synced)
        for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder)
            if (auto synced = sync_directory(*folder); !synced) throw error(synced.why());
    if (::rename(temporary_.c_str(), path.c_str()) != 0) {
        const int why = errno;
        // What holds something else than a Zarr hierarchy is somebody else's.
        std::error_code none;
        if ((why != ENOTEMPTY && why != EEXIST) || !fs::exists(path + "/" + metadata_name, none))
            fail(path + ": cannot rename " + temporary_ + " to it", why);
        if (auto renamed = rename_over(temporary_, path); !renamed) throw error(renamed.why());
    }
    published_ = true;
    if (how_ == durability::synced) {
        const std::string parent = fs::path(path).parent_path().string();
        if (auto synced = sync_directory(parent.empty() ? "." : parent); !synced) throw error(synced.why());
    }
    return bytes_;
}

}  // namespace halcyon::offload::zarr
