#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "offload/store/store.hpp"
#include "temporary_folder.hpp"

namespace halcyon::offload::testing {
namespace {

std::string module_path() {
    const char* set = std::getenv("HALCYON_MODULE_PATH");
    return set != nullptr ? set : "";
}

TEST(store_module, is_found_through_the_module_path) {
    const result<store_module> module = load_store_module("hdf5");
    ASSERT_TRUE(module.ok()) << module.why().message;
    const std::unique_ptr<file_store> store(module->make_file_store());
    const std::unique_ptr<view_builder> view(module->make_view_builder(".", "sim"));
    EXPECT_NE(store, nullptr);
    EXPECT_NE(view, nullptr);
    EXPECT_EQ(module->traits.ending, ".h5");
    EXPECT_FALSE(module->traits.is_folder);
    EXPECT_TRUE(module->traits.has_view());
    EXPECT_TRUE(module->traits.is_collective);
}

TEST(store_module, a_missing_one_says_where_it_was_looked_for) {
    halcyon::tests::temporary_folder folder;
    const std::string before = module_path();
    setenv("HALCYON_MODULE_PATH", ("/nowhere:" + folder.path().string()).c_str(), 1);
    const result<store_module> module = load_store_module("none");
    std::ofstream(folder.file("libhalcyon_store_broken.so")) << "not a library";
    const result<store_module> broken = load_store_module("broken");
    setenv("HALCYON_MODULE_PATH", before.c_str(), 1);
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.why().kind, error_kind::system);
    const std::string& message = module.why().message;
    for (const std::string part : {"'none'", "HALCYON_MODULE_PATH", "/nowhere/libhalcyon_store_none.so: not there",
                                   "/libhalcyon_store_none.so: not there"}) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    const std::string here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    EXPECT_NE(message.find(here + "/libhalcyon_store_none.so"), std::string::npos) << message;
    ASSERT_FALSE(broken.ok());
    EXPECT_NE(broken.why().message.find(folder.file("libhalcyon_store_broken.so") + ": "), std::string::npos)
        << broken.why().message;
    EXPECT_NE(broken.why().message.find("file too short"), std::string::npos) << broken.why().message;
}

/// Why the module of a type in the folder of foreign ones is not loaded.
std::string refusal(const std::string& type) {
    const std::string before = module_path();
    setenv("HALCYON_MODULE_PATH", FOREIGN_MODULES, 1);
    const result<store_module> module = load_store_module(type);
    setenv("HALCYON_MODULE_PATH", before.c_str(), 1);
    return module.ok() ? "" : module.why().message;
}

TEST(store_module, one_of_another_release_is_not_called) {
    const std::string why = refusal("newer");
    const std::string own = std::to_string(this_store_interface.version) + " with values of " +
                            std::to_string(this_store_interface.value_bytes) + " bytes";
    EXPECT_NE(why.find(FOREIGN_MODULES "/libhalcyon_store_newer.so: has store interface version 1000 with values of 17 "
                                       "bytes, but this program needs version " +
                       own),
              std::string::npos)
        << why;
}

TEST(store_module, one_without_a_version_is_not_called) {
    const std::string why = refusal("oldest");
    EXPECT_NE(why.find("/libhalcyon_store_oldest.so: not a store module of this release (lacks "
                       "halcyon_store_interface"),
              std::string::npos)
        << why;
}

TEST(store_module, a_type_is_a_name_not_a_path) {
    EXPECT_EQ(load_store_module("../evil").why().kind, error_kind::config);
    EXPECT_EQ(load_store_module("").why().kind, error_kind::config);
}

}  // namespace
}  // namespace halcyon::offload::testing
