#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "base/error.hpp"

namespace halcyon::offload::hdf5 {

/// Owns one HDF5 identifier and closes it with the function that belongs to its kind.
template <herr_t (*close_id)(hid_t)>
class handle {
  public:
    handle() = default;
    explicit handle(hid_t id) : id_(id) {}
    handle(handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
    handle& operator=(handle&& other) noexcept {
        if (this != &other) {
            reset();
            id_ = std::exchange(other.id_, H5I_INVALID_HID);
        }
        return *this;
    }
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    ~handle() { reset(); }

    [[nodiscard]] hid_t get() const { return id_; }
    /// Gives up the identifier: for callers that must see the status of its close.
    [[nodiscard]] hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }
    void reset() {
        if (id_ >= 0) close_id(id_);
        id_ = H5I_INVALID_HID;
    }

  private:
    hid_t id_ = H5I_INVALID_HID;
};

using file_handle = handle<H5Fclose>;
using group_handle = handle<H5Gclose>;
using dataset_handle = handle<H5Dclose>;
using space_handle = handle<H5Sclose>;
using type_handle = handle<H5Tclose>;
using list_handle = handle<H5Pclose>;
using attribute_handle = handle<H5Aclose>;
using object_handle = handle<H5Oclose>;

/// What HDF5 says about its last failure: the innermost message of its error stack, where the cause is.
[[nodiscard]] std::string last_message();

/// A failed call of the library, as an exception of kind system: `what: innermost message`.
[[noreturn]] void throw_failed(const std::string& what);

/// `id` (an identifier, a status, a truth value), or an exception when the call that gave it failed.
template <class Integer>
Integer check(Integer id, const std::string& what) {
    if (id < 0) throw_failed(what);
    return id;
}

/// Keeps HDF5 from printing its errors while it lives: they become failures, and 0-2 belong to the simulation.
class silence {
  public:
    silence();
    ~silence();
    silence(const silence&) = delete;
    silence& operator=(const silence&) = delete;

  private:
    H5E_auto2_t printer_ = nullptr;
    void* printer_data_ = nullptr;
};

}  // namespace halcyon::offload::hdf5
