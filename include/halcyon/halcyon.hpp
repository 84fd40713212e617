/// Halcyon for C++20: halcyon.h with sessions and blocks that clean up after themselves and failures as exceptions.
/// Header only; programs link libhalcyon. Every failure is a `halcyon::error`, whose kind() is one of those that the
/// call lists; halcyon.h says of the named function when each of them comes, and how long the call blocks. Beyond
/// these, using a session or block that was moved from is a usage error.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "halcyon/error.hpp"
#include "halcyon/halcyon.h"

namespace halcyon {

/// How far the data of an iteration has come.
enum class stage { accepted = HALCYON_ACCEPTED, stored = HALCYON_STORED, durable = HALCYON_DURABLE };

/// A type that a variable's elements can have: integers of 8 to 64 bits, float, double.
template <class T>
concept element = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, float> || std::same_as<T, double>;

/// The configuration's name for T.
template <element T>
constexpr halcyon_type element_type() {
    if constexpr (std::same_as<T, float>) {
        return HALCYON_FLOAT32;
    } else if constexpr (std::same_as<T, double>) {
        return HALCYON_FLOAT64;
    } else {
        constexpr int log2_bytes = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return static_cast<halcyon_type>((std::is_signed_v<T> ? HALCYON_INT8 : HALCYON_UINT8) + log2_bytes);
    }
}

/// The name of a variable, parameter or event: a string literal or a std::string that outlives the call.
class name {
  public:
    name(const char* text) : text_(text) {}
    name(const std::string& text) : text_(text.c_str()) {}
    operator const char*() const { return text_; }

  private:
    const char* text_;
};

namespace detail {

inline void check(int code) {
    if (code != HALCYON_OK) throw error(static_cast<error_kind>(code), halcyon_error_message());
}

inline const char* name_of(halcyon_type type) {
    static constexpr std::array names = {"int8",   "int16",  "int32",  "int64",   "uint8",
                                         "uint16", "uint32", "uint64", "float32", "float64"};
    return names.at(type);
}

/// Shared by a session and its blocks, so that a block that outlives its session finds it closed.
struct connection {
    halcyon_handle handle = nullptr;

    template <element T>
    halcyon_block_info describe(const char* variable, int block) const {
        halcyon_block_info info;
        check(halcyon_describe(handle, variable, block, &info));
        if (info.type != element_type<T>())
            throw error(error_kind::usage, std::string("variable '") + variable + "' is " + name_of(info.type) +
                                               " in the configuration, the data given is " +
                                               name_of(element_type<T>()));
        return info;
    }
};

}  // namespace detail

/// A block of shared memory that the simulation fills in place: span() until commit(), view() until clear().
/// Destruction clears a committed block; one never committed stays with the session, whose close marks it as missing.
template <element T>
class block {
  public:
    block(block&& other) noexcept
        : connection_(std::move(other.connection_)),
          variable_(std::move(other.variable_)),
          number_(other.number_),
          info_(other.info_),
          data_(std::exchange(other.data_, {})),
          committed_(std::exchange(other.committed_, false)) {}
    block& operator=(block&& other) noexcept {
        if (this != &other) {
            this->~block();
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~block() {
        if (committed_ && connection_->handle) halcyon_clear(connection_->handle, variable_.c_str(), number_);
    }

    /// The elements, to be written. Usage error after commit: from then on the server reads them too.
    [[nodiscard]] std::span<T> span() const {
        if (committed_)
            throw error(error_kind::usage, "block of '" + variable_ + "' is committed: read it with view()");
        return data_;
    }
    /// The elements, to be read; empty after clear.
    [[nodiscard]] std::span<const T> view() const { return data_; }
    /// The block's shape, ghosts included; C order.
    [[nodiscard]] std::span<const int64_t> dimensions() const {
        return {info_.dimensions, static_cast<size_t>(info_.rank)};
    }

    /// The elements are final: simulation and server both only read them from now on.
    /// Errors: usage, system, unavailable (halcyon_commit).
    void commit() {
        detail::check(halcyon_commit(live().handle, variable_.c_str(), number_));
        committed_ = true;
    }
    /// The block is the server's: spans and views of it must not be used any more.
    /// Errors: usage, unavailable (halcyon_clear).
    void clear() {
        detail::check(halcyon_clear(live().handle, variable_.c_str(), number_));
        committed_ = false;
        data_ = {};
    }

  private:
    friend class session;
    block(std::shared_ptr<detail::connection> c, const char* variable, int number, const halcyon_block_info& info,
          T* data)
        : connection_(std::move(c)),
          variable_(variable),
          number_(number),
          info_(info),
          data_(data, static_cast<size_t>(info.bytes) / sizeof(T)) {}

    /// Usage error where this block was moved from.
    [[nodiscard]] detail::connection& live() const {
        if (!connection_) throw error(error_kind::usage, "this block was moved from: use the one it was moved to");
        return *connection_;
    }

    std::shared_ptr<detail::connection> connection_;
    std::string variable_;
    int number_;
    halcyon_block_info info_;
    std::span<T> data_;
    bool committed_ = false;
};

/// One process's connection to the server of its node. Opening and closing are collective over the communicator.
///
/// Destruction closes, and prints a failure on stderr: call close() to handle it. While an exception unwinds on one of
/// several ranks the destructor does not close, because the others are not there to do it with; the server then stores
/// what it has accepted when the process ends, as it does for a process that died.
class session {
  public:
    /// Errors: config, usage, system, unavailable (halcyon_open).
    session(name config_path, MPI_Comm comm) : connection_(std::make_shared<detail::connection>()) {
        int ranks = 0;
        MPI_Comm_size(comm, &ranks);
        alone_ = ranks == 1;
        detail::check(halcyon_open(config_path, comm, &connection_->handle));
    }
    session(session&&) noexcept = default;
    session& operator=(session&& other) noexcept {
        std::swap(connection_, other.connection_);
        std::swap(alone_, other.alone_);
        std::swap(unwinding_at_open_, other.unwinding_at_open_);
        return *this;
    }
    ~session() {
        if (!connection_ || !connection_->handle) return;
        if (!alone_ && std::uncaught_exceptions() > unwinding_at_open_) {
            std::fputs("halcyon: session left open while an exception passes; its server stores what it accepted\n",
                       stderr);
        } else if (halcyon_close(&connection_->handle) != HALCYON_OK) {
            std::fprintf(stderr, "halcyon: %s\n", halcyon_error_message());
        }
    }

    /// Returns when all is stored (`close: detach`: accepted).
    /// Errors: usage, system, unavailable (halcyon_close).
    void close() { detail::check(halcyon_close(&live().handle)); }

    /// Copies a block of elements into shared memory; `data` may be reused on return. Usage error, and nothing written,
    /// when type or number of elements are not the layout's.
    /// Errors: config, usage, system, unavailable (halcyon_write_bytes).
    template <std::ranges::contiguous_range Range>
    requires std::ranges::sized_range<const Range> && element<std::ranges::range_value_t<Range>>
    void write(name variable, const Range& data, int block = 0) {
        write_bytes(variable, std::ranges::data(data), std::ranges::size(data), block);
    }
    /// A variable of one element.
    /// Errors: config, usage, system, unavailable (halcyon_write_bytes).
    template <element T>
    void write(name variable, T value, int block = 0) {
        write_bytes(variable, &value, 1, block);
    }
    /// As many elements as the layout says, from `data` on: only their type is checked.
    /// Errors: config, usage, system, unavailable (halcyon_write_bytes).
    template <element T>
    void write(name variable, const T* data, int block = 0) {
        const halcyon_block_info info = live().template describe<T>(variable, block);
        detail::check(halcyon_write_bytes(connection_->handle, variable, block, data, info.bytes));
    }

    /// Zero copy: the block itself, uninitialised. Usage error when T is not the variable's type.
    /// Errors: config, usage, system, unavailable (halcyon_alloc).
    template <element T>
    [[nodiscard]] halcyon::block<T> alloc(name variable, int block = 0) {
        const halcyon_block_info info = live().template describe<T>(variable, block);
        void* data = nullptr;
        detail::check(halcyon_alloc(connection_->handle, variable, block, &data));
        return {connection_, variable, block, info, static_cast<T*>(data)};
    }

    /// Raises an event of the configuration.
    /// Errors: usage, system, unavailable (halcyon_signal).
    void signal(name event) { detail::check(halcyon_signal(live().handle, event)); }
    /// Nothing more will come for the open iteration. Collective where parameters are `steerable`.
    /// Errors: system, unavailable (halcyon_end_iteration).
    void end_iteration() { detail::check(halcyon_end_iteration(live().handle)); }
    /// Waits until the node's iterations up to `iteration` have reached `until`.
    /// Errors: usage, system, unavailable (halcyon_wait).
    void wait(int64_t iteration, stage until) {
        detail::check(halcyon_wait(live().handle, iteration, static_cast<halcyon_stage>(until)));
    }
    /// For a parameter that the configuration declares `mutable`.
    /// Errors: usage (halcyon_set_parameter).
    void set_parameter(name parameter, double value) {
        detail::check(halcyon_set_parameter(live().handle, parameter, value));
    }
    /// The value that a parameter of the configuration has now.
    /// Errors: usage (halcyon_get_parameter).
    [[nodiscard]] double get_parameter(name parameter) const {
        double value = 0;
        detail::check(halcyon_get_parameter(live().handle, parameter, &value));
        return value;
    }
    /// Counts of this client until now.
    /// Errors: usage (halcyon_stats).
    [[nodiscard]] halcyon_stats_t stats() const {
        halcyon_stats_t counts{};
        counts.size_bytes = sizeof counts;
        detail::check(halcyon_stats(live().handle, &counts));
        return counts;
    }

  private:
    /// Usage error where this session was moved from.
    [[nodiscard]] detail::connection& live() const {
        if (!connection_) throw error(error_kind::usage, "this session was moved from: use the one it was moved to");
        return *connection_;
    }
    template <element T>
    void write_bytes(const char* variable, const T* data, size_t count, int block) {
        live().template describe<T>(variable, block);
        detail::check(
            halcyon_write_bytes(connection_->handle, variable, block, data, static_cast<int64_t>(count * sizeof(T))));
    }

    std::shared_ptr<detail::connection> connection_;
    bool alone_ = false;
    int unwinding_at_open_ = std::uncaught_exceptions();
};

/// What this process is about to do; halcyon.h describes each member.
struct forecast {
    std::vector<halcyon_expected_access> accesses;  ///< in the order in which they begin
    halcyon_forecast_t whole{};                     ///< the rest; its own `accesses` is null
};

namespace detail {

template <class Ask>
forecast forecast_with_room(int64_t room, Ask ask) {
    forecast found;
    found.accesses.resize(room > 0 ? static_cast<size_t>(room) : 0);
    found.whole.size_bytes = sizeof found.whole;
    found.whole.accesses = found.accesses.data();
    found.whole.capacity = static_cast<int64_t>(found.accesses.size());
    check(ask(found.whole));
    found.accesses.resize(static_cast<size_t>(found.whole.count));
    found.whole.accesses = nullptr;
    found.whole.capacity = 0;
    return found;
}

}  // namespace detail

/// The next `count` accesses of this process to files.
/// Errors: usage, system, unavailable (halcyon_forecast).
inline forecast next_accesses(int64_t count) {
    return detail::forecast_with_room(
        count, [&](halcyon_forecast_t& into) { return halcyon_forecast(nullptr, count, &into); });
}

/// Those that begin within the next `seconds`, `most` of them.
/// Errors: usage, system, unavailable (halcyon_forecast_window).
inline forecast accesses_within(double seconds, int64_t most = 1024) {
    return detail::forecast_with_room(
        most, [&](halcyon_forecast_t& into) { return halcyon_forecast_window(nullptr, seconds, &into); });
}

/// Sets a parameter for the next session of this process.
/// Errors: usage (halcyon_set_parameter).
inline void set_parameter(name parameter, double value) {
    detail::check(halcyon_set_parameter(nullptr, parameter, value));
}

}  // namespace halcyon
