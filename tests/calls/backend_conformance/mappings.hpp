#pragma once

#include <sys/mman.h>

#include <cstring>

#include "calls/backend_conformance/fixture.hpp"

namespace halcyon::calls {

/// Memory that a backend mapped, unmapped with it.
class mapped_file {
  public:
    mapped_file(file_backend& of, const opened_file& file, size_t bytes, int protection, int flags, int64_t offset = 0,
                void* at = nullptr)
        : bytes_(bytes), at_(of.map(file.handle(), at, bytes, protection, flags, offset)) {}
    ~mapped_file() {
        if (result() == 0) munmap(text(), bytes_);
    }
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    [[nodiscard]] int result() const { return at_ < 0 && at_ > -4096 ? static_cast<int>(at_) : 0; }
    [[nodiscard]] char* text() const { return reinterpret_cast<char*>(at_); }

  private:
    size_t bytes_;
    int64_t at_;
};

#define SKIP_WITHOUT_MAPS() \
    if (!GetParam().maps) GTEST_SKIP() << "this backend maps no files"

TEST_P(backend_conformance, shared_mappings_are_the_file) {
    SKIP_WITHOUT_MAPS();
    constexpr size_t bytes = 1'500'000;
    constexpr int64_t offset = 8 * 4096;
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    ASSERT_EQ(backend().resize(file.handle(), bytes), 0);
    ASSERT_EQ(file.write("written before", 700'000), 14);
    const mapped_file all(backend(), file, bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
    const mapped_file part(backend(), file, bytes - offset, PROT_READ, MAP_SHARED, offset);
    ASSERT_EQ(all.result(), 0);
    ASSERT_EQ(part.result(), 0);
    EXPECT_EQ(std::string(all.text() + 700'000, 14), "written before");
    EXPECT_EQ(file.write("written later", 1'000'000), 13);
    EXPECT_EQ(std::string(all.text() + 1'000'000, 13), "written later");
    std::memcpy(all.text() + 262'140, "stored", 6);
    EXPECT_EQ(file.read(6, 262'140), "stored");
    EXPECT_EQ(std::string(part.text() + 262'140 - offset, 6), "stored");
    EXPECT_EQ(all.text()[bytes], '\0') << "behind the end, on the last page";
    child_process child(backend(), [&] {
        std::memcpy(all.text() + 1'400'000, "by a child", 10);
        return 0;
    });
    EXPECT_EQ(child.result(), 0);
    EXPECT_EQ(file.read(10, 1'400'000), "by a child");
}

TEST_P(backend_conformance, private_mappings_keep_what_is_stored_to_themselves) {
    SKIP_WITHOUT_MAPS();
    put("a", std::string(300'000, 'x'));
    opened_file file(backend(), path("a"), O_RDONLY);
    const mapped_file own(backend(), file, 300'000, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    ASSERT_EQ(own.result(), 0);
    EXPECT_EQ(std::string(own.text(), 300'000), std::string(300'000, 'x'));
    std::memcpy(own.text() + 299'000, "mine", 4);
    EXPECT_EQ(file.read(4, 299'000), "xxxx");
    EXPECT_EQ(std::string(own.text() + 299'000, 4), "mine");
}

TEST_P(backend_conformance, mappings_outlive_handles_and_names) {
    SKIP_WITHOUT_MAPS();
    put("a", "first");
    opened_file file(backend(), path("a"), O_RDWR);
    const mapped_file map(backend(), file, 4096, PROT_READ | PROT_WRITE, MAP_SHARED);
    ASSERT_EQ(map.result(), 0);
    file.close();
    EXPECT_EQ(unlink("a"), 0);
    for (int i = 0; i < 200; ++i) {
        put("b", std::string(4096, 'b'));
        EXPECT_EQ(unlink("b"), 0);
    }
    struct statfs system {};
    EXPECT_EQ(backend().stat_system(system), 0);
    put("c", std::string(4096, 'c'));
    EXPECT_EQ(std::string(map.text(), 6), std::string("first\0", 6));
    map.text()[0] = 'F';
    EXPECT_EQ(content("c"), std::string(4096, 'c'));
}

TEST_P(backend_conformance, mappings_go_where_they_are_told) {
    SKIP_WITHOUT_MAPS();
    put("a", "text");
    opened_file file(backend(), path("a"), O_RDWR);
    opened_file write_only(backend(), path("a"), O_WRONLY);
    opened_file read_only(backend(), path("a"), O_RDONLY);
    const mapped_file there(backend(), file, 8192, PROT_READ, MAP_SHARED);
    ASSERT_EQ(there.result(), 0);
    const mapped_file fixed(backend(), file, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, 0, there.text());
    ASSERT_EQ(fixed.result(), 0);
    EXPECT_EQ(fixed.text(), there.text());
    fixed.text()[0] = 'T';
    EXPECT_EQ(file.read(4, 0), "Text");
    const auto error = [&](const opened_file& of, size_t bytes, int protection, int flags, int64_t offset) {
        return mapped_file(backend(), of, bytes, protection, flags, offset).result();
    };
    EXPECT_EQ(error(file, 0, PROT_READ, MAP_SHARED, 0), -EINVAL);
    EXPECT_EQ(error(file, 4096, PROT_READ, MAP_SHARED, 100), -EINVAL);
    EXPECT_EQ(error(write_only, 4096, PROT_READ, MAP_SHARED, 0), -EACCES);
    EXPECT_EQ(error(read_only, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 0), -EACCES);
    EXPECT_EQ(error(read_only, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0), 0);
}

}  // namespace halcyon::calls
