// Reads traces and rings that were damaged at random, for so many runs or minutes, after those of a folder as they are.
// A crash or a sanitizer's complaint ends it; the same seed leads there again.
// Usage: fuzz_trace_reader [--corpus FOLDER] [--runs N | --minutes N] [--seed N], or --make FOLDER [--seed N]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string_view>

#include "base/clock.hpp"
#include "observe/trace/trace_format.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/written_trace.hpp"

namespace {

using namespace halcyon::observe::trace;

/// Makes the check sums of damaged sections right, so that what stands behind the sums is reached.
void mend_check_sums(std::string& trace) {
    size_t at = sizeof(file_header);
    file_header begin{};
    std::memcpy(&begin, trace.data(), std::min(sizeof begin, trace.size()));
    while (at + sizeof(section_header) <= trace.size()) {
        section_header header;
        std::memcpy(&header, trace.data() + at, sizeof header);
        const size_t payload = at + sizeof header;
        if (header.magic != section_magic || header.bytes > trace.size() - payload) return;
        header.check = check_of(begin.version, header.kind, trace.data() + payload, header.bytes);
        std::memcpy(trace.data() + at, &header, sizeof header);
        at = payload + filled_up(header.bytes);
    }
}

void damage(std::string& bytes, std::mt19937_64& random, size_t within) {
    if (bytes.empty()) return;
    for (uint64_t left = 1 + random() % 6; left > 0; --left) {
        const size_t at = random() % std::min(within, bytes.size());
        switch (random() % 5) {
            case 0:
                bytes[at] = static_cast<char>(random());
                break;
            case 1:
                bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
                break;
            case 2:
                bytes[at] = static_cast<char>(random() % 2 == 0 ? 0xFF : 0);
                break;
            case 3:
                for (size_t i = at; i < std::min(at + 8, bytes.size()); ++i) bytes[i] = static_cast<char>(random());
                break;
            default:
                if (random() % 10 == 0) bytes.resize(at);
        }
        if (bytes.empty()) return;
    }
}

void read_all(const std::string& path, bool salvage) {
    try {
        const trace_reader reader(path, salvage);
        for (size_t i = 0; i < reader.chunk_count(); ++i) static_cast<void>(reader.chunk(i));
    } catch (const halcyon::error&) {
        // Refused, as it should be.
    }
}

void read_folder(const char* folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".trace") continue;
        read_all(entry.path().string(), false);
        read_all(entry.path().string(), true);
    }
}

/// The inputs of tests/observe/corpus: a whole trace, one with a full chunk, one of a killed process with a ring cut
/// short, and damaged ones.
void make_corpus(const std::string& target, std::mt19937_64& random) {
    const halcyon::tests::temporary_folder folder;
    const std::string whole = read_bytes(write_trace(folder, "ended", usual_records(30, random), true));
    write_bytes(target + "/ended.trace", whole);
    write_bytes(target + "/nested.trace",
                read_bytes(write_trace(folder, "nested", nested_records(4140, random), true)));
    write_bytes(target + "/killed.trace", read_bytes(write_trace(folder, "killed", usual_records(30, random), false)));
    write_bytes(target + "/killed.ring", read_bytes(folder.file("killed.ring")).substr(0, 8192));
    for (int i = 0; i < 8; ++i) {
        std::string damaged = whole;
        damage(damaged, random, damaged.size());
        mend_check_sums(damaged);
        write_bytes(target + "/damaged" + std::to_string(i) + ".trace", damaged);
    }
}

// Reads damaged traces until there were `runs`, or until `end_ns`; how many there were.
uint64_t fuzz(uint64_t runs, int64_t end_ns, std::mt19937_64& random) {
    const halcyon::tests::temporary_folder folder;
    const std::string ended = read_bytes(write_trace(folder, "ended", usual_records(60, random), true));
    const std::string nested = read_bytes(write_trace(folder, "nested", nested_records(4300, random), true));
    const std::string killed = read_bytes(write_trace(folder, "killed", usual_records(4200, random), false));
    const std::string ring = read_bytes(folder.file("killed.ring"));
    const std::string path = folder.file("input.trace");
    uint64_t done = 0;
    for (; done < runs && halcyon::monotonic_ns() < end_ns; ++done) {
        const bool with_ring = random() % 4 == 0;
        std::string trace = with_ring ? killed : random() % 16 == 0 ? nested : ended;
        if (!with_ring || random() % 2 == 0) damage(trace, random, trace.size());
        if (random() % 4 != 0) mend_check_sums(trace);
        write_bytes(path, trace);
        std::filesystem::remove(folder.file("input.ring"));
        if (with_ring) {
            std::string beside = ring;
            damage(beside, random, random() % 2 == 0 ? 1200 : beside.size());
            write_bytes(folder.file("input.ring"), beside);
        }
        read_all(path, random() % 2 == 0);
    }
    return done;
}

void run(int count, char** words) {
    uint64_t runs = UINT64_MAX;
    uint64_t seed = static_cast<uint64_t>(halcyon::realtime_ns());
    int64_t end_ns = INT64_MAX;
    const char* make = nullptr;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view name = words[i];
        if (name == "--runs") runs = strtoull(words[i + 1], nullptr, 10);
        if (name == "--seed") seed = strtoull(words[i + 1], nullptr, 10);
        if (name == "--corpus") read_folder(words[i + 1]);
        if (name == "--make") make = words[i + 1];
        if (name == "--minutes")
            end_ns = halcyon::monotonic_ns() + static_cast<int64_t>(strtod(words[i + 1], nullptr) * 60e9);
    }
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    if (make != nullptr) return make_corpus(make, random);
    const uint64_t done = fuzz(runs, end_ns, random);
    std::printf("%llu damaged traces: read or refused\n", static_cast<unsigned long long>(done));
}

}  // namespace

int main(int count, char** words) {
    try {
        run(count, words);
        return 0;
    } catch (const std::exception& why) {
        std::fprintf(stderr, "%s\n", why.what());
        return 1;
    }
}
