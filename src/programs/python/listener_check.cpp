#include "programs/python/listener_check.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/line_socket/socket_address.hpp"
#include "base/line_socket/trusted_listener.hpp"

namespace nb = nanobind;

namespace halcyon::python {

void add_listener_check(nb::module_& m) {
    m.def(
        "check_listener",
        [](int socket, const std::string& address, std::optional<uid_t> named) {
            check_listener(socket, parse_socket_address(address).value(), named).value();
        },
        nb::arg("socket"), nb::arg("address"), nb::arg("named") = nb::none(),
        "Of a socket that is connected to a Unix address. UsageError: who listens there is not to be believed.");
}

}  // namespace halcyon::python
