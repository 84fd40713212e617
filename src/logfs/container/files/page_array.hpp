#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "logfs/container/files/memory_source.hpp"

namespace halcyon::logfs {

/// An array in pages of a memory source. It doubles, and says so when there is no memory: nothing here throws.
template <class T>
class page_array {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    explicit page_array(memory_source& memory) : memory_(&memory) {}
    page_array(page_array&& other) noexcept : memory_(other.memory_) { swap(other); }
    page_array& operator=(page_array&& other) noexcept {
        swap(other);
        return *this;
    }
    page_array(const page_array&) = delete;
    page_array& operator=(const page_array&) = delete;
    ~page_array() { release(); }

    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }
    [[nodiscard]] T* data() { return data_; }
    [[nodiscard]] const T* data() const { return data_; }
    [[nodiscard]] T* begin() { return data_; }
    [[nodiscard]] T* end() { return data_ + size_; }
    [[nodiscard]] const T* begin() const { return data_; }
    [[nodiscard]] const T* end() const { return data_ + size_; }
    [[nodiscard]] T& back() { return data_[size_ - 1]; }
    [[nodiscard]] const T& back() const { return data_[size_ - 1]; }
    [[nodiscard]] size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::span<T> all() { return {data_, size_}; }
    [[nodiscard]] std::span<const T> all() const { return {data_, size_}; }

    /// False when there is no memory for it.
    [[nodiscard]] bool push(const T& value) {
        if (size_ == capacity_) {
            const T kept = value;  // it may lie in this array
            if (!reserve(size_ + 1)) return false;
            data_[size_++] = kept;
            return true;
        }
        data_[size_++] = value;
        return true;
    }
    [[nodiscard]] bool append(std::span<const T> values) {
        if (values.empty()) return true;
        if (!reserve(size_ + values.size())) return false;
        std::memcpy(static_cast<void*>(data_ + size_), values.data(), values.size_bytes());
        size_ += values.size();
        return true;
    }
    /// Elements that are new are those that were there when the array was longer, or zeros.
    [[nodiscard]] bool resize(size_t size) {
        if (!reserve(size)) return false;
        size_ = size;
        return true;
    }
    [[nodiscard]] bool reserve(size_t wanted) {
        if (wanted <= capacity_) return true;
        size_t grown = bytes_ == 0 ? page : bytes_ * 2;
        const size_t needed = (wanted * sizeof(T) + page - 1) / page * page;
        if (grown < needed) grown = needed;
        void* moved = change_to(grown);
        if (moved == nullptr && grown > needed) {
            grown = needed;
            moved = change_to(grown);
        }
        if (moved == nullptr) return false;
        data_ = static_cast<T*>(moved);
        bytes_ = grown;
        capacity_ = grown / sizeof(T);
        return true;
    }
    /// Takes over pages of the memory source that hold so many elements and can only be read (memory_source::map).
    void take_mapped(void* pages, size_t bytes, size_t size) {
        release();
        data_ = static_cast<T*>(pages);
        size_ = size;  // and a capacity of 0: who adds something gets a copy
        bytes_ = bytes;
        is_mapped_ = true;
    }
    void clear() { size_ = 0; }
    void cut(size_t size) { size_ = size; }
    void pop() { --size_; }
    /// Its pages go back.
    void release() {
        if (bytes_ > 0) memory_->give_back(data_, bytes_);
        data_ = nullptr;
        size_ = capacity_ = bytes_ = 0;
        is_mapped_ = false;
    }
    /// Pages behind its elements go back.
    void shrink() {
        const size_t needed = (size_ * sizeof(T) + page - 1) / page * page;
        if (needed >= bytes_ || is_mapped_) return;
        if (needed == 0) return release();
        if (void* const moved = memory_->resize(data_, bytes_, needed); moved != nullptr) {
            data_ = static_cast<T*>(moved);
            bytes_ = needed;
            capacity_ = needed / sizeof(T);
        }
    }
    void swap(page_array& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(bytes_, other.bytes_);
        std::swap(is_mapped_, other.is_mapped_);
    }

  private:
    static constexpr size_t page = 4096;

    [[nodiscard]] void* change_to(size_t bytes) {
        if (!is_mapped_) return bytes_ == 0 ? memory_->take(bytes) : memory_->resize(data_, bytes_, bytes);
        void* const copy = memory_->take(bytes);
        if (copy == nullptr) return nullptr;
        std::memcpy(copy, static_cast<const void*>(data_), size_ * sizeof(T));
        memory_->give_back(data_, bytes_);
        is_mapped_ = false;
        return copy;
    }

    memory_source* memory_;
    T* data_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;
    size_t bytes_ = 0;
    bool is_mapped_ = false;
};

}  // namespace halcyon::logfs
