#include "calls/wrappers/mpi/mpi_facts.hpp"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "calls/wrappers/mpi/mpi_files.hpp"

namespace halcyon::calls::mpi {
namespace {

constexpr size_t longest_text = 8192;  // of a library's version, MPICH's
constexpr size_t longest_value = 2048;

void tell(uint32_t file, std::string_view key, std::string_view value) {
    this_process().layers.each([&](layer& l) { l.on_fact(file, key, value); });
}

void tell_number(uint32_t file, std::string_view key, long value) {
    char text[24];
    const int length = snprintf(text, sizeof text, "%ld", value);
    tell(file, key, {text, static_cast<size_t>(length)});
}

/// The names of the access mode's bits, as in the standard; the bits are the same with Open MPI and MPICH.
void tell_of_access(uint32_t file, int access) {
    constexpr const char* names[] = {"MPI_MODE_CREATE", "MPI_MODE_RDONLY",          "MPI_MODE_WRONLY",
                                     "MPI_MODE_RDWR",   "MPI_MODE_DELETE_ON_CLOSE", "MPI_MODE_UNIQUE_OPEN",
                                     "MPI_MODE_EXCL",   "MPI_MODE_APPEND",          "MPI_MODE_SEQUENTIAL"};
    char text[256] = "";
    char* end = text;
    for (size_t bit = 0; bit < sizeof names / sizeof names[0]; ++bit) {
        if ((access & 1 << bit) == 0) continue;
        if (end != text) end = stpcpy(end, "|");
        end = stpcpy(end, names[bit]);
    }
    tell(file, "mpi.amode", text);
}

void tell_of_library() {
    char text[longest_text] = "";
    int length = 0;
    if (ask(HALCYON_PMPI(Get_library_version, (char*, int*)), text, &length) != success) return;
    text[sizeof text - 1] = '\0';
    tell(0, "mpi.library", text);
}

/// One hint by its place in an info object.
void tell_of_hint(uint32_t file, handle info, int place) {
    constexpr std::string_view before = "mpi.hint.";
    char key[longest_value] = "mpi.hint.";
    char value[longest_value] = "";
    char* const name = key + before.size();
    if (ask(HALCYON_PMPI(Info_get_nthkey, (handle, int, char*)), info, place, name) != success) return;
    int there = 0;
    const auto get = HALCYON_PMPI(Info_get, (handle, const char*, int, char*, int*));
    constexpr int room = 1024;  // MPICH's longest value; Open MPI's is shorter
    if (ask(get, info, name, room, value, &there) != success || there == 0) return;
    tell(file, key, value);
}

/// Where the elements of a view lie, from its first one on: asking the library for single ones works for every type,
/// and without a walk through what the types were made of.
struct seen_view {
    handle file;
    int64_t element;
    int64_t first = absolute_offset(file, 0);

    [[nodiscard]] int64_t place(int64_t number) const { return absolute_offset(file, number) - first; }
    [[nodiscard]] bool in_first_piece(int64_t number) const { return place(number) == number * element; }

    /// How many elements follow each other without a gap; `count`: a number beyond.
    [[nodiscard]] int64_t first_piece(int64_t count) const {
        int64_t inside = 0;
        int64_t beyond = 1;
        while (beyond < count && in_first_piece(beyond)) {
            inside = beyond;
            beyond = 2 * beyond < count ? 2 * beyond : count;
        }
        while (beyond - inside > 1) {
            const int64_t middle = inside + (beyond - inside) / 2;
            (in_first_piece(middle) ? inside : beyond) = middle;
        }
        return beyond;
    }
};

}  // namespace

void tell_of_view(uint32_t id, handle file, int64_t element, int64_t type) {
    if (element <= 0 || type < element) return;
    const seen_view view{file, element};
    const int64_t count = type / element;
    if (view.first < 0 || view.in_first_piece(count)) return;
    const int64_t piece = view.first_piece(count);
    const int64_t every = view.place(piece);
    if (every <= 0 || !view_is_news(file, piece * element, every)) return;
    const int64_t last = count - 1;
    const bool alike = view.place(last) == last / piece * every + last % piece * element;
    char text[80];
    const int length = snprintf(text, sizeof text, "%lld bytes every %lld%s", static_cast<long long>(piece * element),
                                static_cast<long long>(every), alike ? "" : " at first");
    tell(id, "mpi.view", {text, static_cast<size_t>(length)});
}

void tell_of_world() {
    static std::atomic<uint32_t> told{0};  // in which process
    if (told.load(std::memory_order_relaxed) == this_process().generation) return;
    int there = 0;  // sessions of MPI 4 know no world
    if (ask(HALCYON_PMPI(Initialized, (int*)), &there) != success || there == 0) return;
    if (told.exchange(this_process().generation) == this_process().generation) return;
    tell_of_library();
    int rank = 0;
    int size = 0;
    if (ask(HALCYON_PMPI(Comm_rank, (handle, int*)), world(), &rank) == success) tell_number(0, "mpi.rank", rank);
    if (ask(HALCYON_PMPI(Comm_size, (handle, int*)), world(), &size) == success) tell_number(0, "mpi.size", size);
}

void tell_of_file(uint32_t id, handle file, handle communicator, int access) {
    tell_of_access(id, access);
    int ranks = 0;
    if (ask(HALCYON_PMPI(Comm_size, (handle, int*)), communicator, &ranks) == success)
        tell_number(id, "mpi.ranks", ranks);
    // An int of MPICH's fills half of this.
    handle info = nullptr;
    if (ask(HALCYON_PMPI(File_get_info, (handle, handle*)), file, &info) != success) return;
    int count = 0;
    if (ask(HALCYON_PMPI(Info_get_nkeys, (handle, int*)), info, &count) != success) count = 0;
    for (int place = 0; place < count; ++place) tell_of_hint(id, info, place);
    ask(HALCYON_PMPI(Info_free, (handle*)), &info);
}

}  // namespace halcyon::calls::mpi
