#include "predict/layer/file_book.hpp"

namespace halcyon::predict {

void file_book::name(const calls::named_file& file) {
    const calls::patient_lock::guard here(lock_);
    if (!here) {
        unnamed_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    if (names_.name(file.id, file.path) == file_names::unknown) unnamed_.fetch_add(1, std::memory_order_relaxed);
}

bool file_book::next_path(uint32_t name_class, uint32_t ahead, char* out, size_t room) {
    out[0] = '\0';
    std::array<char, file_names::longest_path> text;
    const calls::patient_lock::guard here(lock_);
    if (!here) return false;
    const std::string_view path = names_.next_path(name_class, ahead, text);
    if (path.empty() || path.size() >= room) return false;
    path.copy(out, path.size());
    out[path.size()] = '\0';
    return true;
}

}  // namespace halcyon::predict
