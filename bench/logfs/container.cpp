/// What a container costs by itself, without the calls of an application around it: writing 4 KiB and the least that
/// does so, opening what many wrote, and reading small records of several writers by large reads. The control of each
/// ratio is the second take of its reference over the first.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "bench/figure.hpp"
#include "logfs/container/plain_file.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/stats.hpp"
#include "logfs/container/watched_files.hpp"
#include "logfs/container/writing/writer.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;
using namespace halcyon::logfs;
namespace fs = std::filesystem;

/// In memory where there is room, so that no disk is measured.
fs::path folder_in(const char* parent) {
    std::string pattern = std::string(parent) + "/halcyon-bench-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::exit(1);
    return pattern;
}

double ms_since(int64_t begin) {
    return static_cast<double>(monotonic_ns() - begin) / 1e6;
}

/// Writers whose data go nowhere: an index is all that opening needs.
class indexes {
  public:
    indexes() {
        // The head of an index is written, too: no write of data is as long.
        calls_.before = [](std::string_view call, int64_t bytes) {
            return call == "write" && bytes != int64_t{block_bytes} ? static_cast<int>(bytes) : 0;
        };
    }
    template <class Offset>
    void write(container& into, int64_t ranks, int64_t writes, int64_t length, Offset offset) {
        container through(calls_);
        through.open(into.path()).value();
        const std::vector<std::byte> data(static_cast<size_t>(length));
        for (int64_t rank = 0; rank < ranks; ++rank) {
            writer to(through);
            to.open(logfs::tests::identity(rank, "node" + std::to_string(rank / 16))).value();
            for (int64_t i = 0; i < writes; ++i) to.write(offset(rank, i), data).value();
            to.close().value();
        }
    }

  private:
    logfs::tests::watched_files calls_;
};

void drop_from_cache(const fs::path& folder) {
    ::sync();
    for (const auto& each : fs::recursive_directory_iterator(folder)) {
        if (!each.is_regular_file()) continue;
        const descriptor file(::open(each.path().c_str(), O_RDONLY));
        ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
}

/// How much of the index droppings below a folder lies in the page cache.
double cached_share(const fs::path& folder) {
    constexpr size_t page = 4096;
    size_t cached = 0;
    size_t all = 0;
    for (const auto& each : fs::recursive_directory_iterator(folder)) {
        if (!each.is_regular_file() || !each.path().filename().string().starts_with("index.")) continue;
        const descriptor file(::open(each.path().c_str(), O_RDONLY));
        const auto bytes = static_cast<size_t>(each.file_size());
        void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
        if (at == MAP_FAILED) std::exit(1);
        std::vector<unsigned char> pages((bytes + page - 1) / page);
        if (::mincore(at, bytes, pages.data()) != 0) std::exit(1);
        ::munmap(at, bytes);
        all += pages.size();
        const auto is_cached = [](unsigned char state) { return (state & 1) != 0; };
        cached += static_cast<size_t>(std::count_if(pages.begin(), pages.end(), is_cached));
    }
    return static_cast<double>(cached) / static_cast<double>(all);
}

struct opened {
    double ms;
    bool is_shared;  ///< began with what another one had merged
    std::vector<segment> seen;
};

/// Until something can be read.
opened open_as(container& in, const reader_options& how) {
    const int64_t begin = monotonic_ns();
    reader from(in, how);
    from.reload().value();
    const auto seen = from.segments(from.size() / 2, from.size()).value();
    const double ms = ms_since(begin);
    return {ms, from.shared().is_used(), {seen.begin(), seen.end()}};
}

double open_ms(container& in) {
    return open_as(in, {}).ms;
}

/// The first reader of a node, with the indexes on the disk, leaves what it merged to the next ones. What these show is
/// compared with what a reader shows that shares nothing.
void opening_together(rounds& r, container& random, const fs::path& node) {
    fs::remove_all(node);
    reader_options sharing;
    sharing.boot_id = "boot0";
    const std::string folder = node.string();
    sharing.sharing.folder = folder;
    drop_from_cache(random.path());
    r.require("the extents are not in the page cache", cached_share(random.path()) < 0.01, "open_random_ms");
    r.value("open_random_ms", open_as(random, sharing).ms, "ms");
    const opened alone = open_as(random, {});
    r.value("open_random_warm_ms", alone.ms, "ms");
    const opened second = open_as(random, sharing);
    const opened third = open_as(random, sharing);
    r.require("readers begin with the node's index", second.is_shared && third.is_shared && !alone.is_shared,
              "open_random_shared_ms");
    r.require("they show the same", second.seen == alone.seen && third.seen == alone.seen, "open_random_shared_ms");
    r.value("open_random_shared_ms", second.ms, "ms");
    r.control("open_random_shared_ms_control", third.ms / second.ms, 1.5);
}

void opening() {
    const fs::path folder = folder_in("/tmp");
    container strided;
    container random;
    strided.create((folder / "strided").string(), 0644).value();
    random.create((folder / "random").string(), 0644).value();
    indexes made;
    made.write(strided, 512, 100000, 256, [](int64_t rank, int64_t i) { return (i * 512 + rank) * 256; });
    std::mt19937_64 numbers(1);
    made.write(random, 64, 100000, 8192,
               [&](int64_t, int64_t) { return static_cast<int64_t>(numbers() % (uint64_t{1} << 38)); });
    {
        reader from(strided);
        from.reload().value();
        if (from.size() != int64_t{512} * 100000 * 256) {
            std::fprintf(stderr, "the index lacks writes: a file of %lld bytes\n", static_cast<long long>(from.size()));
            std::exit(1);
        }
        count("open_patterns", static_cast<double>(from.index().patterns()), "patterns");
        count("open_memory", static_cast<double>(from.memory().peak()) / (1 << 20), "MiB");
    }
    for (rounds r; r.next();) {
        static_cast<void>(open_ms(strided));
        r.require("the patterns are in the page cache", cached_share(folder / "strided") > 0.99, "open_ms");
        r.value("open_ms", open_ms(strided), "ms");
        opening_together(r, random, folder / "node");
    }
    fs::remove_all(folder);
}

constexpr int64_t strided_writes = 50000;
constexpr int64_t strided_bytes = 256;
constexpr int64_t ranks = 4;

void index_sizes() {
    const fs::path folder = folder_in("/dev/shm");
    container strided;
    strided.create((folder / "strided").string(), 0644).value();
    const std::vector<std::byte> data(strided_bytes);
    for (int64_t rank = 0; rank < ranks; ++rank) {
        writer to(strided);
        to.open(logfs::tests::identity(rank)).value();
        for (int64_t i = 0; i < strided_writes; ++i) to.write((i * ranks + rank) * strided_bytes, data).value();
        to.close().value();
    }
    count("index_share", 100 * stats(strided)->index_share(), "%");
    container random;
    random.create((folder / "random").string(), 0644).value();
    std::mt19937_64 numbers(1);
    writer to(random);
    to.open(logfs::tests::identity(1)).value();
    for (int64_t i = 0; i < 100000; ++i)
        to.write(static_cast<int64_t>(numbers() % (uint64_t{1} << 38)), std::span(data).first(64)).value();
    to.close().value();
    count("index_bytes_per_extent", static_cast<double>(stats(random)->index_bytes) / 100000, "B");
    fs::remove_all(folder);
}

/// New pages on both sides.
double pwrite_ns(const fs::path& folder, int64_t writes, const std::vector<std::byte>& data) {
    const std::string path = (folder / "plain").string();
    const descriptor file(::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644));
    const int64_t begin = monotonic_ns();
    for (int64_t i = 0; i < writes; ++i)
        if (::pwrite(file.get(), data.data(), data.size(), i * static_cast<int64_t>(data.size())) < 0) std::exit(1);
    const auto spent = static_cast<double>(monotonic_ns() - begin);
    ::unlink(path.c_str());
    return spent / static_cast<double>(writes);
}

/// `stride`: in writes; 0: at random places.
double write_ns(const fs::path& folder, int64_t writes, const std::vector<std::byte>& data, int64_t stride) {
    const std::string path = (folder / "container").string();
    double spent = 0;
    {
        container in;
        in.create(path, 0644).value();
        writer to(in);
        to.open(logfs::tests::identity(1)).value();
        std::mt19937_64 numbers(1);
        const int64_t begin = monotonic_ns();
        for (int64_t i = 0; i < writes; ++i) {
            const int64_t place = stride > 0 ? i * stride : static_cast<int64_t>(numbers() % (1 << 20));
            to.write(place * static_cast<int64_t>(data.size()), data).value();
        }
        spent = static_cast<double>(monotonic_ns() - begin);
        to.close().value();
    }
    fs::remove_all(path);
    return spent / static_cast<double>(writes);
}

void writing() {
    const fs::path folder = folder_in("/dev/shm");
    const std::vector<std::byte> data(4096);
    constexpr int64_t writes = 20000;
    for (rounds r; r.next();) {
        interleaved strided;
        interleaved random;
        for (int take = 0; take < 5; ++take) {
            const double plain = pwrite_ns(folder, writes, data);
            const double pattern = write_ns(folder, writes, data, 4);
            const double places = write_ns(folder, writes, data, 0);
            const double again = pwrite_ns(folder, writes, data);
            strided.add(pattern, plain, again);
            random.add(places, plain, again);
        }
        strided.difference(r, "container_write_overhead_ns", 1, "ns");
        random.difference(r, "container_random_write_overhead_ns", 1, "ns");
    }
    fs::remove_all(folder);
}

double read_plain_ms(const std::string& path, std::vector<std::byte>& buffer, int64_t size) {
    const descriptor file(::open(path.c_str(), O_RDONLY));
    const int64_t begin = monotonic_ns();
    for (int64_t at = 0; at < size; at += static_cast<int64_t>(buffer.size()))
        if (::pread(file.get(), buffer.data(), buffer.size(), at) <= 0) std::exit(1);
    return ms_since(begin);
}

double read_container_ms(container& in, std::vector<std::byte>& buffer, int64_t size) {
    reader from(in);
    from.reload().value();
    const int64_t begin = monotonic_ns();
    for (int64_t at = 0; at < size; at += static_cast<int64_t>(buffer.size()))
        if (from.read(at, buffer).value() <= 0) std::exit(1);
    return ms_since(begin);
}

void reading() {
    const fs::path folder = folder_in("/dev/shm");
    for (const int64_t record : {strided_bytes, int64_t{47} << 10}) {
        const int64_t records = record == strided_bytes ? strided_writes : 500;
        const int64_t size = ranks * records * record;
        const std::string name = record == strided_bytes ? "container_read_256B" : "container_read_47KiB";
        container in;
        in.create((folder / name).string(), 0644).value();
        const std::vector<std::byte> data(static_cast<size_t>(record));
        for (int64_t rank = 0; rank < ranks; ++rank) {
            writer to(in);
            to.open(logfs::tests::identity(rank)).value();
            for (int64_t i = 0; i < records; ++i) to.write((i * ranks + rank) * record, data).value();
            to.close().value();
        }
        const std::string plain = (folder / (name + ".plain")).string();
        {
            const descriptor file(::open(plain.c_str(), O_CREAT | O_WRONLY, 0644));
            for (int64_t i = 0; i < ranks * records; ++i)
                if (::pwrite(file.get(), data.data(), data.size(), i * record) < 0) std::exit(1);
        }
        std::vector<std::byte> buffer(1 << 20);
        for (rounds r; r.next();) {
            interleaved bandwidth;
            for (int take = 0; take < 5; ++take) {
                const double first = read_plain_ms(plain, buffer, size);
                const double container_ms = read_container_ms(in, buffer, size);
                const double again = read_plain_ms(plain, buffer, size);
                bandwidth.add(1 / container_ms, 1 / first, 1 / again);
            }
            bandwidth.ratio(r, name);
        }
    }
    fs::remove_all(folder);
}

}  // namespace

int main() {
    index_sizes();
    writing();
    reading();
    opening();
    return 0;
}
