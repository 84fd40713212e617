#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

/// What a store module publishes. It is all that the rest of Halcyon knows of a format. The texts live in the module,
/// which stays loaded.
struct store_traits {
    std::string_view ending;  ///< of the name of a data file, with its dot: ".h5"
    bool is_folder = false;   ///< a data file is a folder of files; otherwise it is one file
    /// Endings of the files `<simulation>…` that are the view over all data files. Empty: there is no view.
    std::array<std::string_view, 2> view_endings;
    bool is_collective = false;  ///< several servers can fill one data file together: file_store::lay_out()

    [[nodiscard]] bool has_view() const { return !view_endings[0].empty(); }
};

/// `stores of type 'x' cannot be …`: what is said of `collective: true` where a module has no such thing.
[[nodiscard]] std::string not_collective(const store& s);

/// Success when a module with these traits can do all that the configuration asks of `s`. Failure (config), with the
/// line: `collective` or `view-interval` of a store whose format has no such thing.
[[nodiscard]] result<void> check_settings(const store& s, const store_traits& traits);

}  // namespace halcyon::offload
