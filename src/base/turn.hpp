#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace halcyon {

/// When a process that stores data may do so: it shares the storage with others of its job, or with other jobs. A
/// thread asks for each file that it is about to store, while it holds nothing for which anybody could wait: no lock,
/// no open file, no claim on a directory.
///
///     const auto storing = turns.begin(directory, bytes);  // waits for the turn
///     open the file;
///     for (each piece) { storing->next(bytes of the piece); write it; }
///     // the turn ends with `storing`
///
/// Any thread may ask, several at a time. Who implements this is handed to the server from outside.
class turn {
  public:
    /// The storing of one file, by one thread.
    class stay {
      public:
        virtual ~stay() = default;  ///< the file is stored, or given up
        /// A piece of so many bytes follows. Where the turn was called back, it is given back here, and asked for
        /// again: the caller holds its own open file meanwhile, and no lock.
        virtual void next(int64_t bytes) = 0;
        /// How long it has waited, before the file was begun and between its pieces.
        [[nodiscard]] virtual int64_t waited_ns() const = 0;
        /// Bytes of pieces that went on although nobody gave the turn.
        [[nodiscard]] virtual int64_t unasked_bytes() const = 0;
    };

    virtual ~turn() = default;

    /// An iteration has become complete, and one takes `iteration_ns` (0: not known yet). For how long to leave it
    /// before begin(); who needs it stored need not wait for that.
    [[nodiscard]] virtual int64_t delay_ns(int64_t iteration_ns) const = 0;
    /// A file of so many bytes is about to be stored in `directory`, which is absolute. Waits for the turn.
    [[nodiscard]] virtual std::unique_ptr<stay> begin(const std::string& directory, int64_t bytes) = 0;
    /// What went otherwise than the configuration means it, a sentence each, since this was asked last. One
    /// thread at a time.
    [[nodiscard]] virtual std::vector<std::string> take_remarks() = 0;
};

/// Everybody stores at any time.
class no_turns : public turn {
  public:
    [[nodiscard]] int64_t delay_ns(int64_t /*iteration_ns*/) const override { return 0; }
    [[nodiscard]] std::unique_ptr<stay> begin(const std::string& /*directory*/, int64_t /*bytes*/) override {
        return std::make_unique<free_stay>();
    }
    [[nodiscard]] std::vector<std::string> take_remarks() override { return {}; }

  protected:
    class free_stay : public stay {
      public:
        void next(int64_t /*bytes*/) override {}
        [[nodiscard]] int64_t waited_ns() const override { return 0; }
        [[nodiscard]] int64_t unasked_bytes() const override { return 0; }
    };
};

/// As no_turns, where turns were asked for: says once why there are none, and counts what is stored.
class turns_not_taken final : public no_turns {
  public:
    explicit turns_not_taken(std::string why) : remarks_{std::move(why)} {}
    [[nodiscard]] std::unique_ptr<stay> begin(const std::string& /*directory*/, int64_t /*bytes*/) override {
        return std::make_unique<unasked_stay>();
    }
    [[nodiscard]] std::vector<std::string> take_remarks() override { return std::exchange(remarks_, {}); }

    class unasked_stay final : public free_stay {
      public:
        void next(int64_t bytes) override { unasked_ += bytes; }
        [[nodiscard]] int64_t unasked_bytes() const override { return unasked_; }

      private:
        int64_t unasked_ = 0;
    };

  private:
    std::vector<std::string> remarks_;
};

}  // namespace halcyon
