#include "flips.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <filesystem>
#include <fstream>
#include <vector>

#include "flipped_bit.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/format.hpp"
#include "logfs/container/reading/reader.hpp"

namespace halcyon::logfs::campaign {
namespace {

namespace fs = std::filesystem;

struct dropping_file {
    std::string path;
    uint64_t bytes;
    bool is_data;
};

/// All that have bytes, in the order of their names. Directories are listed by their whole paths: past whoever answers
/// for the files.
std::vector<dropping_file> droppings_of(const std::string& container) {
    std::vector<dropping_file> all;
    for (const auto& folder : fs::directory_iterator(container)) {
        if (!folder.path().filename().string().starts_with("hostdir.")) continue;
        for (const auto& file : fs::directory_iterator(folder.path())) {
            const std::string name = file.path().filename();
            const bool is_data = name.starts_with("data.");
            if (!is_data && !name.starts_with("index.")) continue;
            if (file.file_size() > 0) all.push_back({file.path(), file.file_size(), is_data});
        }
    }
    std::ranges::sort(all, {}, &dropping_file::path);
    return all;
}

/// One that somebody wrote, as far as that shows. Of an index, half of them in the sectors of its head, which say more
/// than all the rest.
uint64_t byte_of(const dropping_file& one, std::mt19937_64& random) {
    if (!one.is_data && one.bytes >= block_bytes && random() % 2 == 0)
        return random() % 6 * sector_bytes + random() % (sector_bytes / 2);
    std::ifstream file(one.path, std::ios::binary);
    uint64_t byte = 0;
    for (int tries = 0; tries < 32; ++tries) {
        byte = random() % one.bytes;
        file.seekg(static_cast<std::streamoff>(byte));
        if (file.get() > 0) break;
    }
    return byte;
}

}  // namespace

flips::outcome flips::read_all() {
    const auto file = how_.new_file();
    buffer_.assign(static_cast<size_t>(expected_file::room) + 1, std::byte{0});
    const int opened = file->open(false, false);
    const int64_t size = opened < 0 ? opened : file->size();
    const int64_t read = size < 0 ? size : file->read(0, buffer_);
    why_ = file->why();
    if (read < 0) return read == -EIO ? outcome::found : outcome::failed;
    const auto expected = board_.expected.bytes(0, std::min(read, expected_file::room));
    const bool is_same =
        size == board_.expected.size() && read == size && std::equal(expected.begin(), expected.end(), buffer_.begin());
    return is_same ? outcome::right : outcome::wrong;
}

/// Whether a sum was left over this byte.
bool flips::is_summed(const std::string& data_path, uint64_t byte) {
    container in;
    if (!in.open(how_.unseen.empty() ? how_.path : how_.unseen)) return false;
    reader_options how;
    how.verifies_data = true;
    reader from(in, how);
    if (!from.reload()) return false;
    for (uint32_t i = 0; i < from.writers().size(); ++i) {
        if (data_path.ends_with(from.writers().data_name_of(i).view()))
            return static_cast<int64_t>(byte) < from.checks().summed(i);
    }
    return false;
}

bool flips::flip_one(std::mt19937_64& random) {
    auto all = droppings_of(how_.unseen.empty() ? how_.path : how_.unseen);
    if (!how_.has_checks) std::erase_if(all, [](const dropping_file& each) { return each.is_data; });
    if (all.empty()) return true;
    const dropping_file& one = all[random() % all.size()];
    const uint64_t byte = byte_of(one, random);
    const auto bit = static_cast<unsigned>(random() % 8);
    outcome came{};
    {
        const tests::flipped_bit flip(one.path, byte, bit);
        came = read_all();
    }
    const bool is_unsummed = came == outcome::wrong && one.is_data && !is_summed(one.path, byte);
    ++(one.is_data ? counts_.data_flips : counts_.index_flips);
    if (came == outcome::found) ++(one.is_data ? counts_.data_flips_found : counts_.index_flips_found);
    if (is_unsummed) ++counts_.data_flips_unsummed;
    if (came == outcome::right || came == outcome::found || is_unsummed) return true;
    board_.fail("bit %u of byte %" PRIu64 " of %s was changed: %s %s", bit, byte, one.path.c_str(),
                came == outcome::wrong ? "wrong bytes are read" : "reads fail, but not of damage:", why_.c_str());
    return false;
}

}  // namespace halcyon::logfs::campaign
