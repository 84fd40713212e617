#include "offload/client/mpi_agreement.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string_view>

#include "base/node_identity.hpp"
#include "base/shared_layout.hpp"

namespace halcyon::offload {
namespace {

/// A failure on its way to the other processes.
struct sent_failure {
    int kind = 0;
    int system_errno = 0;
    std::array<char, 4000> message{};

    /// The begin of `text`, whole characters of UTF-8 only, then all of `suffix`.
    void put(const std::string& text, std::string_view suffix) {
        const size_t room = message.size() - 1 - suffix.size();
        size_t length = std::min(text.size(), room);
        if (length < text.size())
            while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
        std::memcpy(message.data(), text.data(), length);
        std::memcpy(message.data() + length, suffix.data(), suffix.size());
    }
};
static_assert(has_copied_layout<sent_failure, 4008, 4>());

result<void> agree_as(MPI_Comm comm, int who, const result<void>& mine, naming whom) {
    int rank = 0, first = INT_MAX;
    MPI_Comm_rank(comm, &rank);
    const int failing = mine ? INT_MAX : rank;
    if (auto done = outcome_of(MPI_Allreduce(&failing, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce"); !done)
        return done;
    if (first == INT_MAX) return {};
    sent_failure sent;
    if (rank == first) {
        sent.kind = static_cast<int>(mine.why().kind);
        sent.system_errno = mine.why().system_errno;
        std::array<char, 256> host{};
        ::gethostname(host.data(), host.size() - 1);
        std::array<char, 320> place{};
        if (whom == naming::rank && mine.why().kind != error_kind::config)
            std::snprintf(place.data(), place.size(), " (rank %d on %s)", who, host.data());
        sent.put(mine.why().message, place.data());
    }
    if (auto done = outcome_of(MPI_Bcast(&sent, sizeof sent, MPI_BYTE, first, comm), "MPI_Bcast"); !done) return done;
    return contained("", [&]() -> result<void> {
        return failure{static_cast<error_kind>(sent.kind), sent.message.data(), sent.system_errno};
    });
}

}  // namespace

communicator::communicator(MPI_Comm c, int who) : comm_(c), who_(who) {
    if (comm_ != MPI_COMM_NULL && who_ < 0) who_ = rank();
}

int communicator::rank() const {
    int r = 0;
    MPI_Comm_rank(comm_, &r);
    return r;
}

int communicator::size() const {
    int n = 0;
    MPI_Comm_size(comm_, &n);
    return n;
}

void communicator::reset() {
    if (comm_ != MPI_COMM_NULL && mpi_runs()) MPI_Comm_free(&comm_);
    comm_ = MPI_COMM_NULL;
}

bool mpi_runs() {
    int initialised = 0, finalised = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    return initialised != 0 && finalised == 0;
}

result<void> outcome_of(int code, const char* call) {
    if (code == MPI_SUCCESS) return {};
    char why[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, why, &length);
    return contained("", [&]() -> result<void> {
        return failure{error_kind::system, std::string(call) + ": " + why, 0};
    });
}

result<communicator> own_communicator(MPI_Comm comm) {
    MPI_Errhandler applications = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm, &applications);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm own = MPI_COMM_NULL;
    const int code = MPI_Comm_dup(comm, &own);
    MPI_Comm_set_errhandler(comm, applications);
    MPI_Errhandler_free(&applications);
    if (auto done = outcome_of(code, "MPI_Comm_dup"); !done) return done.why();
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);  // what is made of it inherits that
    return communicator(own);
}

result<communicator> split(const communicator& of, int color, int key) {
    MPI_Comm part = MPI_COMM_NULL;
    if (auto done = outcome_of(MPI_Comm_split(of.get(), color, key, &part), "MPI_Comm_split"); !done) return done.why();
    return communicator(part, of.who());
}

result<communicator> node_of(const communicator& all) {
    MPI_Comm shared = MPI_COMM_NULL;
    const int code = MPI_Comm_split_type(all.get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    if (auto done = outcome_of(code, "MPI_Comm_split_type"); !done) return done.why();
    const communicator candidates(shared, all.who());
    node_identity me;
    std::vector<node_identity> everybody;
    auto ready = agree_after(candidates, [&]() -> result<void> {
        me = node_identity::of_this_process();
        everybody.resize(static_cast<size_t>(candidates.size()));
        return {};
    });
    if (!ready) return ready.why();
    const int told = MPI_Allgather(&me, sizeof me, MPI_BYTE, everybody.data(), sizeof me, MPI_BYTE, shared);
    if (auto done = outcome_of(told, "MPI_Allgather"); !done) return done.why();
    int color = 0;
    while (!(everybody[static_cast<size_t>(color)] == me)) ++color;
    return split(candidates, color, candidates.rank());
}

result<void> agree(const communicator& comm, const result<void>& mine, naming whom) {
    return agree_as(comm.get(), comm.who(), mine, whom);
}

result<void> agree(MPI_Comm comm, const result<void>& mine) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return agree_as(comm, rank, mine, naming::rank);
}

result<void> broadcast(const communicator& comm, int root, std::string& text) {
    auto length = static_cast<uint64_t>(text.size());
    if (auto done = outcome_of(MPI_Bcast(&length, 1, MPI_UINT64_T, root, comm.get()), "MPI_Bcast"); !done) return done;
    auto room = agree_after(comm, [&]() -> result<void> {
        if (length > INT_MAX) return failure{error_kind::usage, "a text of more than 2 GiB cannot be sent", 0};
        text.resize(length);
        return {};
    });
    if (!room) return room;
    return outcome_of(MPI_Bcast(text.data(), static_cast<int>(length), MPI_BYTE, root, comm.get()), "MPI_Bcast");
}

result<std::vector<std::string>> gather(const communicator& comm, const std::string& text) {
    const int length = static_cast<int>(text.size());
    const bool is_root = comm.rank() == 0;
    std::vector<int> lengths, begins;
    auto room = agree_after(comm, [&]() -> result<void> {
        lengths.resize(static_cast<size_t>(comm.size()));
        begins.resize(lengths.size());
        return {};
    });
    if (!room) return room.why();
    int code = MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm.get());
    if (auto done = outcome_of(code, "MPI_Gather"); !done) return done.why();
    std::string all;
    std::vector<std::string> texts;
    const auto more_room = agree_after(comm, [&]() -> result<void> {
        if (!is_root) return {};
        int total = 0;
        for (size_t i = 0; i < lengths.size(); ++i) {
            begins[i] = total;
            total += lengths[i];
        }
        all.resize(static_cast<size_t>(total));
        return {};
    });
    if (!more_room) return more_room.why();
    code =
        MPI_Gatherv(text.data(), length, MPI_BYTE, all.data(), lengths.data(), begins.data(), MPI_BYTE, 0, comm.get());
    if (auto done = outcome_of(code, "MPI_Gatherv"); !done) return done.why();
    const auto taken = agree_after(comm, [&]() -> result<void> {
        for (size_t i = 0; i < lengths.size() && is_root; ++i)
            texts.push_back(all.substr(static_cast<size_t>(begins[i]), static_cast<size_t>(lengths[i])));
        return {};
    });
    if (!taken) return taken.why();
    return texts;
}

result<std::vector<std::string>> gather_to_all(const communicator& comm, const std::string& text) {
    auto gathered = gather(comm, text);
    if (!gathered) return gathered.why();
    std::string lines;
    const auto joined = agree_after(comm, [&]() -> result<void> {
        for (const std::string& one : *gathered) lines += one + '\n';
        return {};
    });
    if (!joined) return joined.why();
    if (auto sent = broadcast(comm, 0, lines); !sent) return sent.why();
    std::vector<std::string> texts;
    const auto parted = agree_after(comm, [&]() -> result<void> {
        std::istringstream all(lines);
        for (std::string line; std::getline(all, line);) texts.push_back(line);
        return {};
    });
    if (!parted) return parted.why();
    return texts;
}

}  // namespace halcyon::offload
