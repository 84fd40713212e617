#pragma once

#include <string>

namespace halcyon {

/// A shared library that is opened when it is first asked for, so that nobody needs it who does not use it. Never
/// closed.
class loaded_library {
  public:
    /// By its SONAME.
    explicit loaded_library(const char* name);

    /// Null where there is none.
    template <class Function>
    void find(const char* symbol, Function& function) {
        function = reinterpret_cast<Function>(address_of(symbol));
    }
    /// Why it cannot be used: no such library, or not all symbols that were asked for. Empty: it can.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

  private:
    void* address_of(const char* symbol);

    const char* name_;
    void* handle_;
    std::string why_not_;
};

}  // namespace halcyon
