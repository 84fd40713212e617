#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "board.hpp"
#include "comparison.hpp"
#include "death.hpp"
#include "settings.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs::campaign {

/// What the conductor asks for, by one letter; the process answers with the same one when it is done.
enum class order : char { work = 'w', compare = 'c', end = 'e' };

/// Of one of the processes that work on the file, in that process.
class working_process {
  public:
    working_process(board& of, const round_settings& how, int number, uint64_t life, bool may_die);
    working_process(const working_process&) = delete;
    working_process& operator=(const working_process&) = delete;
    virtual ~working_process() = default;

    /// Opens the file and does what it is told, until the end. The exit code.
    int run(int orders, int answers);

  protected:
    /// A turn. False: it failed, and the board says why.
    virtual bool work() = 0;
    virtual bool may_write() const = 0;

    uint64_t below(uint64_t limit) { return random_() % limit; }
    int64_t between(int64_t least, int64_t most) {
        return least + static_cast<int64_t>(below(static_cast<uint64_t>(most - least + 1)));
    }
    /// Whether a call went well; else the board says which did not.
    bool went(int64_t outcome, const char* call);
    bool open();
    bool open_again();
    /// With the file's lock, as it is left by others: what killed ones had begun is decided.
    bool lock();
    bool unlock() { return went(file_->unlock(), "unlock"); }
    void step(const char* name) { death_.step(name); }
    const char* who() const { return who_.c_str(); }

    board& board_;
    place& place_;
    int number_;
    comparison comparison_;

    bool look_anywhere();

  private:
    bool do_it(order what);

    const round_settings& how_;
    std::string who_;
    std::mt19937_64 random_;
    death death_;
    tests::watched_files calls_;

  protected:
    std::unique_ptr<tested_file> file_;
};

/// Reads, and opens anew, while others write.
class reading_process final : public working_process {
  public:
    using working_process::working_process;

  private:
    bool work() override;
    bool may_write() const override { return false; }
};

/// Changes the file: in its own parts, or under the lock anywhere.
class writing_process final : public working_process {
  public:
    using working_process::working_process;

  private:
    bool work() override;
    bool may_write() const override { return true; }

    bool change_file(change what);
    int64_t make(const change& what);
    bool work_alone();
    bool work_in_own_part();
    bool work_with_lock();
    bool change_anywhere();
    change next_of_pattern(int64_t begin, int64_t end);

    // A pattern goes on for a while: strided, contiguous, backwards or over itself.
    int part_ = -1;
    int64_t left_ = 0;
    int64_t offset_ = 0;
    int64_t length_ = 0;
    int64_t stride_ = 0;
};

}  // namespace halcyon::logfs::campaign
