#include "predict/layer/file_book.hpp"

#include <cstring>

#include "calls/state/direct_call.hpp"

namespace halcyon::predict {
namespace direct = calls::direct;

file_book::~file_book() {
    if (pages_ != nullptr) direct::call(SYS_munmap, direct::address(pages_), sizeof(pages));
}

void file_book::name(const calls::named_file& file) {
    const calls::patient_lock::guard here(lock_);
    if (!here) {
        unnamed_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    if (names_.name(file.id, file.path) == file_names::unknown) unnamed_.fetch_add(1, std::memory_order_relaxed);
    keep(file.id, file.path);
}

void file_book::keep(uint32_t file, std::string_view path) {
    if (pages_ == nullptr) pages_ = static_cast<pages*>(direct::map_memory(sizeof(pages)));
    if (pages_ == nullptr || path.size() > file_names::longest_path) return;
    if (written_ % text_bytes + path.size() > text_bytes) written_ += text_bytes - written_ % text_bytes;
    path.copy(pages_->text + written_ % text_bytes, path.size());
    pages_->places[file % most_files] = {written_ + 1, file, static_cast<uint32_t>(path.size())};
    written_ += path.size();
}

bool file_book::path_of(uint32_t file, char* out, size_t room) {
    out[0] = '\0';
    const calls::patient_lock::guard here(lock_);
    if (!here || pages_ == nullptr) return false;
    const place& kept = pages_->places[file % most_files];
    const bool there = kept.begin != 0 && kept.file == file && kept.begin - 1 + text_bytes >= written_;
    if (!there || kept.length >= room) return false;
    std::memcpy(out, pages_->text + (kept.begin - 1) % text_bytes, kept.length);
    out[kept.length] = '\0';
    return true;
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
