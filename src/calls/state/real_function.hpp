#pragma once

#include <atomic>
#include <cstdint>

namespace halcyon::calls {

/// Finds the function that an interposed symbol stands in front of: the next one of that name in the order in which the
/// dynamic linker searches, or else in any library that was loaded (also one that was loaded for itself alone, as
/// Python does with its extension modules). Null where there is none.
void* find_real_function(const char* symbol);

/// The same of one version of it, such as "GLIBC_2.2.5". Null where there is none.
void* find_real_version(const char* symbol, const char* version);

/// The address of a symbol of the application's libraries, looked up when it is asked for the first time, and again
/// when its object was unloaded (forget_unloaded). A function that is missing is looked up again when more objects have
/// been loaded; a variable, by which libraries are told apart, when one was unloaded. Must live for ever.
///
/// Any thread asks. `address_` is null or right for as long as the object is loaded; two threads that look it up at
/// once find the same.
class library_symbol {
  public:
    enum class kind : uint8_t { function, variable };
    constexpr explicit library_symbol(const char* name, kind what = kind::function) : name_(name), kind_(what) {}

    void* address() {
        void* const known = address_.load(std::memory_order_relaxed);
        return known != nullptr ? known : look_up();
    }

    /// Forgets the addresses in objects that are not loaded any more.
    static void forget_unloaded();
    /// How often that was called.
    static uint64_t unloadings();

  private:
    void* look_up();
    [[nodiscard]] uint64_t now() const;
    void enlist();

    const char* name_;
    kind kind_;
    std::atomic<bool> is_listed_{false};
    std::atomic<void*> address_{nullptr};
    std::atomic<uint64_t> missing_since_{0};  ///< now() when there was none; 0: not missing
    library_symbol* next_ = nullptr;          ///< of those that were found once
};

}  // namespace halcyon::calls
