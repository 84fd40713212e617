// Whom a client believes to be the server that it looks for.
#include "base/line_socket/trusted_listener.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/line_socket/line_client.hpp"
#include "base/line_socket/listening_socket.hpp"
#include "temporary_folder.hpp"

namespace halcyon {
namespace {

constexpr uid_t stranger = 65533;

TEST(trusted_listener, is_root_the_own_user_the_named_one_or_the_owner_of_the_folder) {
    const tests::temporary_folder folder;
    const socket_address file = parse_socket_address("unix:" + folder.file("s")).value();
    const socket_address abstract = parse_socket_address("unix:@s").value();
    for (const socket_address& address : {file, abstract}) {
        EXPECT_TRUE(may_listen(address, 0, {}));
        EXPECT_TRUE(may_listen(address, ::geteuid(), {}));
        EXPECT_TRUE(may_listen(address, stranger, stranger));
        EXPECT_FALSE(may_listen(address, stranger, {}));
        EXPECT_FALSE(may_listen(address, stranger, stranger - 1));
    }
    if (::geteuid() != 0) return;
    ASSERT_EQ(::chown(folder.path().c_str(), stranger, stranger), 0);
    EXPECT_TRUE(may_listen(file, stranger, {}));
    EXPECT_FALSE(may_listen(abstract, stranger, {}));
}

TEST(trusted_listener, clients_leave_one_of_another_user) {
    if (::geteuid() != 0) GTEST_SKIP() << "being another user needs root";
    const socket_address address =
        parse_socket_address("unix:@halcyon-trust-test-" + std::to_string(::getpid())).value();
    ASSERT_EQ(::seteuid(stranger), 0);
    const auto listening = listening_socket::open(address, {});
    ASSERT_EQ(::seteuid(0), 0);
    ASSERT_TRUE(listening.ok()) << listening.why().message;
    const auto refused = line_client::connect(address, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().kind, error_kind::usage);
    EXPECT_TRUE(refused.why().message.starts_with(address.text() + ": user 65533 listens there"))
        << refused.why().message;
    EXPECT_TRUE(line_client::connect(address, {.server_user = stranger}).ok());
}

}  // namespace
}  // namespace halcyon
