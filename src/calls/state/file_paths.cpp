#include "calls/state/file_paths.hpp"

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

void file_paths::keep(uint32_t file, std::string_view path) {
    const patient_lock::guard here(lock_);
    if (!here || path.size() > text_bytes) return;
    if (pages_ == nullptr) pages_ = static_cast<pages*>(direct::map_memory(sizeof(pages)));
    if (pages_ == nullptr) return;
    if (written_ % text_bytes + path.size() > text_bytes) written_ += text_bytes - written_ % text_bytes;
    std::memcpy(pages_->text + written_ % text_bytes, path.data(), path.size());
    pages_->places[file % most_files] = {written_ + 1, file, static_cast<uint32_t>(path.size())};
    written_ += path.size();
}

bool file_paths::path_of(uint32_t file, char* out, size_t room) {
    if (room > 0) out[0] = '\0';
    const patient_lock::guard here(lock_);
    if (!here || pages_ == nullptr) return false;
    const place& kept = pages_->places[file % most_files];
    const bool there = kept.begin != 0 && kept.file == file && kept.begin - 1 + text_bytes >= written_;
    if (!there || kept.length >= room) return false;
    std::memcpy(out, pages_->text + (kept.begin - 1) % text_bytes, kept.length);
    out[kept.length] = '\0';
    return true;
}

}  // namespace halcyon::calls
