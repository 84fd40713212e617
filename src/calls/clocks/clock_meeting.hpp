#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace halcyon::calls {

/// How recorded processes of an MPI job, one for each clock (node_clock.hpp), agree on who of them compare clocks: in a
/// folder that all of them see, without a message of MPI. Therefore no process waits for one that has no recorder, and
/// a communicator that is made over the ranks agreed on is made by all of them or by none.
///
/// Before MPI starts, rank 0 leaves the file `first` in the launch's folder, and of each other clock the first process
/// to come leaves a file of the clock's name, an `announcement`. MPI starts in all ranks together: who takes part is
/// known when it has. Then each announced process writes its rank into its file, rank 0 reads them, writes the list of
/// ranks into `first` and renames that to `go`; in the announcements it writes that the list is there. A process that
/// cannot wait any longer renames `first` to `no`. Of the two renames one succeeds, and everybody does as that one
/// says.
class clock_meeting {
  public:
    static constexpr size_t most_ranks = 4096;
    static constexpr int64_t usual_patience_ns = 5'000'000'000;

    /// Before MPI starts. `folder`: a launch's own, in one that exists; it is made here and disappears with the
    /// meeting. `clock`: this process' (node_clock_name). `told_rank`: as the launcher says.
    void announce(std::string_view folder, std::string_view clock, int told_rank);

    /// After MPI has started: the ranks that take part, from 0 on; empty: none, or not this one. All of them get the
    /// same list. Rank 0 waits for those who announced themselves, for half of the patience at most, others until
    /// rank 0 has decided.
    std::span<const int> agree(int rank, int ranks, int64_t patience_ns = usual_patience_ns);

    /// When all have come together: removes what agree() left for others to read.
    void end();

  private:
    enum class role : uint8_t { none, first, announced };

    std::span<const int> lead(int ranks, int64_t patience_ns);
    size_t gather(int ranks, int64_t until_ns);
    void answer_all(size_t count);
    std::span<const int> follow(int rank, int ranks, int64_t patience_ns);
    [[nodiscard]] bool is_invited(int64_t until_ns);
    std::span<const int> read_list(int rank);

    template <class Function>
    void each_announcement(Function function);
    const char* path_of(std::string_view name);
    [[nodiscard]] int open(std::string_view name, int flags);
    [[nodiscard]] bool read(std::string_view name, void* out, size_t bytes);
    [[nodiscard]] bool write(std::string_view name, const void* what, size_t bytes, int64_t offset);
    [[nodiscard]] bool exists(std::string_view name);
    [[nodiscard]] bool make(std::string_view name);
    [[nodiscard]] bool decide(std::string_view how);
    void remove(std::string_view name);

    role role_ = role::none;
    char folder_[3072] = "";
    char path_[3072 + 128] = "";
    char own_[128] = "";  ///< this process' announcement, or that of its clock
    int ranks_[most_ranks] = {};
};

}  // namespace halcyon::calls
