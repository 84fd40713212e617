#include "programs/server_core.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "base/unix_socket.hpp"
#include "offload/client/server_process.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/segment/session_document.hpp"
#include "temporary_folder.hpp"

namespace halcyon {
namespace {

using namespace offload;

constexpr const char* configuration = "halcyon: 1\nsimulation: quiet\nresources: {buffer: {size: 1 MiB}}\n";

/// What the first client of a node brings to its server, and the server, in a process of its own.
class starting_server : public ::testing::Test {
  protected:
    void SetUp() override {
        const model data = parse_model(configuration, "quiet.yaml", {}).value();
        document.session = random_session_id();
        document.configuration = configuration;
        document.configuration_name = "quiet.yaml";
        document.directory = folder_.path();
        document.writer = node_writer(0);
        document.client_ranks = {0};
        document.client_cpus = {"0"};
        document.geometry = plan_segment(data, 1, need_of(data, 0, 1).value()).value();
        shared = segment::create(document.geometry, false).value();
        auto listening = listen_abstract(socket_name(document.session, 1), 1).value();
        server_ = ::fork();
        if (server_ == 0) ::_exit(serve_node(std::move(listening), 1, nullptr, nullptr, nullptr));
        ASSERT_GT(server_, 0);
    }
    /// What the server answers.
    result<std::unique_ptr<server_process>> bring(const std::string& text) {
        auto memory = shared_memory::create("document", text.size(), false).value();
        std::memcpy(memory.data(), text.data(), text.size());
        memory.freeze().value();
        return server_process::bring({document.session, 0, 0}, shared, std::move(memory));
    }
    /// The server has refused and ended.
    void expect_refusal(const std::string& text, const std::string& why) {
        const auto answer = bring(text);
        ASSERT_FALSE(answer.ok());
        EXPECT_NE(answer.why().message.find(why), std::string::npos) << answer.why().message;
        int status = 0;
        ASSERT_EQ(::waitpid(server_, &status, 0), server_);
        EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 1);
    }

    session_document document;
    segment shared;

  private:
    halcyon::tests::temporary_folder folder_;
    pid_t server_ = -1;
};

TEST_F(starting_server, tells_the_client_that_it_is_of_another_release) {
    ++shared.header().layout_version;
    expect_refusal(document.to_text(), "client and server are of different releases");
}

TEST_F(starting_server, tells_the_client_that_the_document_is_malformed) {
    expect_refusal("{}", "session document received is malformed");
}

TEST_F(starting_server, tells_the_client_what_is_wrong_with_the_configuration) {
    document.configuration += "nonsense: 1\n";
    expect_refusal(document.to_text(), "quiet.yaml:4: nonsense");
}

}  // namespace
}  // namespace halcyon
