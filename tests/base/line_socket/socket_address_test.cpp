#include "base/line_socket/socket_address.hpp"

#include <gtest/gtest.h>

namespace halcyon {
namespace {

using family = socket_address::family;

TEST(socket_address, is_read_and_written_the_same) {
    const struct {
        const char* text;
        socket_address expected;
    } cases[] = {
        {"unix:/run/halcyon/a.socket", {family::unix_path, "/run/halcyon/a.socket", 0}},
        {"unix:@halcyon", {family::unix_abstract, "halcyon", 0}},
        {"tcp:login1:7410", {family::tcp, "login1", 7410}},
        {"tcp:10.1.0.1:0", {family::tcp, "10.1.0.1", 0}},
        {"tcp:[fd00::1]:65535", {family::tcp, "fd00::1", 65535}},
        {"tcp:[fe80::1%eth0]:1", {family::tcp, "fe80::1%eth0", 1}},
    };
    for (const auto& c : cases) {
        const auto got = parse_socket_address(c.text);
        ASSERT_TRUE(got.ok()) << got.why().message;
        EXPECT_EQ(*got, c.expected) << c.text;
        EXPECT_EQ(got->text(), c.text);
    }
}

TEST(socket_address, an_error_names_the_text_the_reason_and_the_expected_form) {
    const std::pair<std::string, std::string> cases[] = {
        {"", "neither unix: nor tcp:"},
        {"/run/halcyon.socket", "neither unix: nor tcp:"},
        {"unix:halcyon.socket", "the path must begin with '/'"},
        {"unix:", "the path must begin with '/'"},
        {"unix:@", "a name must follow the '@'"},
        {std::string("unix:/a\0b", 9), "a zero byte in the name"},
        {"unix:/" + std::string(107, 'x'), "a name of 108 bytes, where the system takes at most 107"},
        {"tcp:login1", "no port"},
        {"tcp:login1:", "port '' is no number from 0 to 65535"},
        {"tcp:login1:65536", "port '65536' is no number from 0 to 65535"},
        {"tcp:login1:-1", "port '-1' is no number from 0 to 65535"},
        {"tcp:login1:80x", "port '80x' is no number from 0 to 65535"},
        {"tcp:fd00::1:7410", "an IPv6 address needs brackets"},
        {"tcp:[login1]:7410", "'login1' is no IPv6 address"},
        {"tcp::7410", "'' is no host name or address"},
        {"tcp:a b:7410", "'a b' is no host name or address"},
    };
    for (const auto& [text, why] : cases) {
        const auto got = parse_socket_address(text);
        ASSERT_FALSE(got.ok()) << text;
        EXPECT_EQ(got.why().kind, error_kind::config);
        std::string expected = "socket address '";
        expected.append(text).append("': ").append(why).append(
            "; expected unix:/path/to/socket, unix:@name, tcp:host:port or tcp:[IPv6]:port");
        EXPECT_EQ(got.why().message, expected);
    }
}

TEST(socket_address, several_are_separated_by_commas_that_paths_may_have_too) {
    const auto got = parse_socket_addresses("unix:/a,b,tcp:login1:7410,unix:@c");
    ASSERT_TRUE(got.ok()) << got.why().message;
    std::string all;
    for (const socket_address& one : *got) all += one.text() + " ";
    EXPECT_EQ(all, "unix:/a,b tcp:login1:7410 unix:@c ");
    EXPECT_FALSE(parse_socket_addresses("unix:/a,tcp:x").ok());
    EXPECT_FALSE(parse_socket_addresses("").ok());
}

TEST(socket_address, the_longest_path_fits) {
    const std::string path = "/" + std::string(106, 'x');
    const auto got = parse_socket_address("unix:" + path);
    ASSERT_TRUE(got.ok()) << got.why().message;
    EXPECT_STREQ(name_of(*got).where.sun_path, path.c_str());
}

}  // namespace
}  // namespace halcyon
