// Where the backend says that bytes of containers go to and come from.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "calls/backend_conformance/fixture.hpp"
#include "logfs/backend/log_backend.hpp"
#include "logfs/container/tools/bring.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using calls::data_places;
using calls::opened_file;

/// Logs go to the node's disk first, and from there to another file system than that of their names.
class placed_logs : public ::testing::Test {
  protected:
    placed_logs() : top_(fs::canonical(folder_.path()).string()) {
        for (const char* const name : {"names", "node", "other"}) fs::create_directory(top_ + "/" + name);
        fs::create_directory_symlink(top_ + "/node", top_ + "/node-by-link");
        stage_ = top_ + "/node-by-link";
        other_ = top_ + "/other";
        backend_settings how;
        how.staging.stage = stage_.c_str();
        how.backends = other_;
        start_backends(how);
        EXPECT_EQ(files_.start((top_ + "/names").c_str()), 0);
    }
    using said = std::map<std::string, unsigned>;
    said places_of(const opened_file& file) {
        data_places places;
        files_.say_places(file.handle(), places);
        said all;
        places.each([&](std::string_view directory, unsigned uses) {
            all[std::string(directory).substr(top_.size() + 1)] = uses;
        });
        return all;
    }

    tests::temporary_folder folder_;
    std::string top_;
    std::string stage_;
    std::string other_;
    log_backend files_;
};

TEST_F(placed_logs, are_said_by_what_calls_do_there) {
    constexpr unsigned reads = data_places::reads, writes = data_places::writes, syncs = data_places::syncs;
    {
        opened_file file(files_, "/f", O_CREAT | O_RDWR);
        ASSERT_EQ(file.result(), 0);
        EXPECT_EQ(places_of(file), (said{{"node", writes}, {"other", syncs}})) << "nothing to read yet";
        ASSERT_EQ(file.write("text", 0), 4);
        EXPECT_EQ(places_of(file), (said{{"node", writes | reads}, {"other", syncs}}));
        calls::child_process child(files_, [&] {
            // As far as its path tells: the child has not opened the container, and may never do.
            return places_of(file) == said{{"node", writes}, {"names/f", reads | syncs}} ? 0 : 1;
        });
        EXPECT_EQ(child.result(), 0);
        const opened_file at_once(files_, "/f", O_RDWR | O_SYNC);
        EXPECT_EQ(places_of(at_once), (said{{"node", writes | reads}, {"other", writes | syncs}}));
    }
    container what;
    what.open(top_ + "/names/f").value();
    std::string into;
    bring_options how;
    how.on_begin = [&](int64_t, const std::string& directory) { into = fs::canonical(directory).parent_path(); };
    EXPECT_EQ(bring(what, how).value().finished, 1U);
    EXPECT_EQ(into, other_);
    opened_file brought(files_, "/f", O_RDONLY);
    EXPECT_EQ(places_of(brought), (said{{"node", writes}, {"other", reads | syncs}}));
    EXPECT_EQ(brought.read(9, 0), "text");
    opened_file directory(files_, "/", O_RDONLY | O_DIRECTORY);
    EXPECT_EQ(places_of(directory), said{});
}

}  // namespace
}  // namespace halcyon::logfs
