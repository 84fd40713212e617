#include "base/loaded_library.hpp"

#include <dlfcn.h>

namespace halcyon {

loaded_library::loaded_library(const char* name) : name_(name), handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ != nullptr) return;
    const char* const why = ::dlerror();
    why_not_ = why != nullptr ? why : name;
}

void* loaded_library::address_of(const char* symbol) {
    if (handle_ == nullptr) return nullptr;
    void* const found = ::dlsym(handle_, symbol);
    if (found == nullptr) why_not_ = std::string(name_) + " has no " + symbol;
    return found;
}

}  // namespace halcyon
