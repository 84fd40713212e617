#include "calls/state/real_function.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "calls/stacks/loaded_object.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls {
namespace {

/// The paths of all loaded objects but this one, one behind the other. They are copied before anything is asked about
/// them: while dl_iterate_phdr runs, it holds a lock that dlopen in another thread waits for, with the lock that dlopen
/// in this thread would need.
class loaded_paths {
  public:
    explicit loaded_paths(const void* own_base)
        : own_base_(own_base), text_(static_cast<char*>(direct::map_memory(room))) {
        if (text_ != nullptr) dl_iterate_phdr(add, this);
    }
    ~loaded_paths() {
        if (text_ != nullptr) direct::call(SYS_munmap, direct::address(text_), room);
    }
    loaded_paths(const loaded_paths&) = delete;
    loaded_paths& operator=(const loaded_paths&) = delete;

    /// Calls `function(path)` with each, until it returns an address.
    template <class Function>
    void* first_of(Function function) const {
        for (size_t at = 0; at < length_; at += std::strlen(text_ + at) + 1) {
            if (void* found = function(text_ + at)) return found;
        }
        return nullptr;
    }

  private:
    static constexpr size_t room = 4 << 20;  // pages that are never touched cost nothing

    static int add(dl_phdr_info* object, size_t, void* opaque) {
        auto& all = *static_cast<loaded_paths*>(opaque);
        if (object->dlpi_name == nullptr || object->dlpi_name[0] == '\0') return 0;
        if (reinterpret_cast<const void*>(object->dlpi_addr) == all.own_base_) return 0;
        const size_t bytes = std::strlen(object->dlpi_name) + 1;
        if (all.length_ + bytes > room) return 1;
        std::memcpy(all.text_ + all.length_, object->dlpi_name, bytes);
        all.length_ += bytes;
        return 0;
    }

    const void* own_base_;
    char* text_;
    size_t length_ = 0;
};

/// How many objects have been loaded since the program began.
uint64_t objects_loaded() {
    uint64_t count = 0;
    const auto look = [](dl_phdr_info* object, size_t, void* opaque) {
        *static_cast<uint64_t*>(opaque) = object->dlpi_adds;
        return 1;
    };
    dl_iterate_phdr(look, &count);
    return count;
}

/// The first of those that were found once; they are never taken out.
constinit std::atomic<library_symbol*> first_listed{nullptr};
constinit std::atomic<uint64_t> unloading_count{0};

}  // namespace

void* find_real_version(const char* symbol, const char* version) {
    return dlvsym(RTLD_NEXT, symbol, version);
}

void* find_real_function(const char* symbol) {
    if (void* next = dlsym(RTLD_NEXT, symbol)) return next;
    Dl_info own{};
    dladdr(reinterpret_cast<const void*>(&find_real_function), &own);
    // A library's own symbols, whichever scope it was loaded into. RTLD_NOLOAD: only asks for a handle.
    return loaded_paths(own.dli_fbase).first_of([&](const char* path) -> void* {
        void* const handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
        if (handle == nullptr) return nullptr;
        void* const found = dlsym(handle, symbol);
        dlclose(handle);
        Dl_info where{};
        const bool is_other = found != nullptr && dladdr(found, &where) != 0 && where.dli_fbase != own.dli_fbase;
        return is_other ? found : nullptr;
    });
}

uint64_t library_symbol::unloadings() {
    return unloading_count.load(std::memory_order_relaxed);
}

/// As long as this stays the same, what is missing is missing. Never 0.
uint64_t library_symbol::now() const {
    return kind_ == kind::function ? objects_loaded() : unloadings() + 1;
}

void* library_symbol::look_up() {
    const uint64_t asked_at = now();
    if (missing_since_.load(std::memory_order_relaxed) == asked_at) return nullptr;
    // The application may have a variable of its own, copied from the library's.
    void* found = kind_ == kind::variable ? dlsym(RTLD_DEFAULT, name_) : nullptr;
    if (found == nullptr) found = find_real_function(name_);
    if (found == nullptr) {
        missing_since_.store(asked_at, std::memory_order_relaxed);
        return nullptr;
    }
    missing_since_.store(0, std::memory_order_relaxed);
    enlist();
    address_.store(found, std::memory_order_relaxed);
    return found;
}

void library_symbol::enlist() {
    if (is_listed_.exchange(true)) return;
    next_ = first_listed.load(std::memory_order_relaxed);
    while (!first_listed.compare_exchange_weak(next_, this, std::memory_order_release)) {
    }
}

void library_symbol::forget_unloaded() {
    unloading_count.fetch_add(1, std::memory_order_relaxed);
    for (library_symbol* at = first_listed.load(std::memory_order_acquire); at != nullptr; at = at->next_) {
        const auto address = reinterpret_cast<uintptr_t>(at->address_.load(std::memory_order_relaxed));
        loaded_object object{};
        if (address != 0 && !find_loaded_object(address, object))
            at->address_.store(nullptr, std::memory_order_relaxed);
    }
}

}  // namespace halcyon::calls
