#include "offload/store/hdf5/file_writer.hpp"

#include <string>

#include "offload/store/hdf5/described_file.hpp"
#include "offload/store/hdf5/format.hpp"

namespace halcyon::offload::hdf5 {
namespace {

/// May wait for the turn of whoever stores.
void announce(const file_job& job, size_t bytes) {
    if (job.storing != nullptr) job.storing->next(static_cast<int64_t>(bytes));
}

size_t bytes_of(std::span<const ready_chunk> chunks) {
    size_t bytes = 0;
    for (const ready_chunk& one : chunks) bytes += one.encoded.bytes.size();
    return bytes;
}

/// Encodes and puts bytes outside of the library: its one user at a time only describes them. Returns where the
/// iterations and the chunks went.
value_places write_with_hdf5(const file_job& job, const std::vector<domain_rows>& datasets, output_file& out,
                             writer_memory& memory) {
    chunk_source chunks(job, datasets, memory);
    described_file file(job, datasets, out);
    for (auto window = chunks.next_window(); !window.empty(); window = chunks.next_window()) {
        file.add(window);
        announce(job, bytes_of(window));
        out.put_held();
        out.throw_if_failed();
    }
    return file.finish();
}

/// Writes what HDF5 would, given a file of the same description. False: the values are not those of the pattern, and
/// what is in `out` is void.
bool write_like(const file_pattern& pattern, const file_job& job, const std::vector<domain_rows>& datasets,
                output_file& out, writer_memory& memory) {
    auto place = pattern.values.begin();
    const auto put = [&](std::span<const std::byte> bytes) {
        if (place == pattern.values.end() || place->bytes != bytes.size()) return false;
        out.write_data(place++->address, bytes);
        out.throw_if_failed();
        return true;
    };
    if (!put(std::as_bytes(std::span(job.iterations)))) return false;
    chunk_source chunks(job, datasets, memory);
    while (const auto chunk = chunks.next()) {
        announce(job, chunk->encoded.bytes.size());
        if (!put(chunk->encoded.bytes)) return false;
    }
    if (place != pattern.values.end()) return false;
    for (const auto& [address, bytes] : pattern.metadata) out.write_metadata(address, bytes);
    out.end_at(pattern.size);
    return true;
}

}  // namespace

void write_contents(const file_job& job, const std::vector<domain_rows>& datasets, output_file& out,
                    writer_memory& memory, pattern_memory& patterns) {
    for (const domain_rows& set : datasets) check_name(set.var->name).value();
    std::string description = patterns.on() ? description_of(job, datasets) : std::string();
    if (const auto pattern = patterns.pattern_for(description)) {
        if (write_like(*pattern, job, datasets, out, memory)) return;
        patterns.refute();
        out.begin_again();
        description.clear();
    }
    const value_places places = write_with_hdf5(job, datasets, out, memory);
    if (description.empty()) return;
    file_pattern made = pattern_of(std::move(description), out, places);
    out.throw_if_failed();
    patterns.keep(std::move(made));
}

}  // namespace halcyon::offload::hdf5
