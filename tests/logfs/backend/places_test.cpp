// Where the backend says that bytes of containers go to and come from.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "calls/backend_conformance/fixture.hpp"
#include "logfs/backend/log_backend.hpp"
#include "logfs/backend/told_places.hpp"
#include "logfs/container/log_file.hpp"
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
    placed_logs() : placed_logs("node-by-link") {}
    /// `stage`: "": none, and three other file systems.
    explicit placed_logs(const std::string& stage) : top_(fs::canonical(folder_.path()).string()) {
        for (const char* const name : {"names", "node", "other", "second", "third"})
            fs::create_directory(top_ + "/" + name);
        fs::create_directory_symlink(top_ + "/node", top_ + "/node-by-link");
        stage_ = stage.empty() ? "" : top_ + "/" + stage;
        other_ = top_ + "/other";
        if (stage.empty()) other_ += ":" + top_ + "/second:" + top_ + "/third";
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
        return of(places);
    }
    said of(const data_places& places) {
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
            // As far as names tell: the child has not opened the container, and may never do.
            return places_of(file) == said{{"node", writes}, {"other", reads | syncs}} ? 0 : 1;
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
    EXPECT_EQ(into, top_ + "/other");
    opened_file brought(files_, "/f", O_RDONLY);
    EXPECT_EQ(places_of(brought), (said{{"node", writes}, {"other", reads | syncs}}));
    EXPECT_EQ(brought.read(9, 0), "text");
    opened_file directory(files_, "/", O_RDONLY | O_DIRECTORY);
    EXPECT_EQ(places_of(directory), said{});
}

TEST_F(placed_logs, are_said_anew_when_what_was_brought_is_read_in_the_container) {
    constexpr unsigned reads = data_places::reads, writes = data_places::writes, syncs = data_places::syncs;
    const std::string path = top_ + "/names/g";
    const writer_identity me = writer_identity::of_this_process();
    std::array<std::byte, 4> bytes{};
    {
        opening how;
        how.may_write = how.creates = true;
        how.writing.stage = stage_;
        log_file staged;
        staged.open(path, me, how).value();
        staged.write(0, bytes).value();
        staged.close().value();
    }
    const told_places::settings how{stage_, "", false};
    const auto say = [&](told_places& by, log_file& file) {
        data_places places;
        by.say(file, how, places);
        return of(places);
    };
    const said on_the_node{{"names/g", writes | syncs}, {"node", reads}};
    log_file early;
    log_file late;
    told_places of_early;
    told_places of_late;
    for (log_file* const each : {&early, &late}) each->open(path, me, {}).value();
    EXPECT_EQ(early.read(0, bytes).value(), 4);
    EXPECT_EQ(say(of_early, early), on_the_node);
    EXPECT_EQ(say(of_late, late), on_the_node);
    container what;
    what.open(path).value();
    EXPECT_EQ(bring(what).value().finished, 1U);
    EXPECT_FALSE(of_late.may_have_changed(late)) << "it has read nothing there";
    for (log_file* const each : {&early, &late}) EXPECT_EQ(each->read(0, bytes).value(), 4);
    EXPECT_FALSE(of_early.may_have_changed(early)) << "it has the file on the node's disk open";
    EXPECT_TRUE(of_late.may_have_changed(late));
    EXPECT_EQ(say(of_late, late), (said{{"names/g", reads | writes | syncs}}));
    EXPECT_FALSE(of_late.may_have_changed(late));
}

/// Logs are spread over several file systems, those of a process by its number.
class spread_logs : public placed_logs {
  protected:
    spread_logs() : placed_logs("") {}

    /// The backend in which the log of this process is; "": there is none.
    [[nodiscard]] std::string backend_of_process() const {
        const std::string number = "." + std::to_string(::getpid()) + ".";
        for (const auto& folder : fs::directory_iterator(top_ + "/names/f")) {
            if (!folder.is_directory()) continue;
            for (const auto& entry : fs::directory_iterator(folder)) {
                const std::string name = entry.path().filename();
                if (name.starts_with("data.") && name.find(number) != std::string::npos)
                    return fs::canonical(folder.path()).parent_path().filename();
            }
        }
        return {};
    }
};

TEST_F(spread_logs, are_said_of_a_forked_child_before_it_writes_its_own) {
    constexpr unsigned reads = data_places::reads, writes = data_places::writes, syncs = data_places::syncs;
    opened_file file(files_, "/f", O_CREAT | O_RDWR);
    ASSERT_EQ(file.write("text", 0), 4);
    const std::string parents = backend_of_process();
    ASSERT_FALSE(parents.empty());
    std::set<std::string> used{parents};
    constexpr int most_children = 50;
    for (int i = 0; i < most_children && used.size() < 2; ++i) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        calls::child_process child(files_, [&] {
            const said before = places_of(file);
            if (file.write("more", 4) != 4) return 1;
            const std::string own = backend_of_process();
            said expected{{own, writes | syncs}};
            for (const std::string& each : used) expected[each] |= reads;
            if (::write(ends[1], own.data(), own.size()) != static_cast<ssize_t>(own.size())) return 2;
            return before == expected ? 0 : 3;
        });
        EXPECT_EQ(child.result(), 0);
        char own[32] = {};
        ASSERT_GT(::read(ends[0], own, sizeof own - 1), 0);
        used.insert(own);
        ::close(ends[0]);
        ::close(ends[1]);
    }
    EXPECT_GT(used.size(), 1U);
}

}  // namespace
}  // namespace halcyon::logfs
