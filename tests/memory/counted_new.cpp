#include "memory/counted_new.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t calls = 0;
std::atomic<std::size_t> bytes{0};

// malloc keeps the size before each block.
std::size_t cost_of(void* block) noexcept { return ::malloc_usable_size(block) + sizeof(std::size_t); }

}  // namespace

namespace rowlock::test {

std::size_t allocations_of_this_thread() noexcept { return calls; }
std::size_t allocated_bytes() noexcept { return bytes; }

}  // namespace rowlock::test

// The other forms call these two, but for types that need more alignment, which have their own.
void* operator new(std::size_t size) {
  void* const block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc{};
  ++calls;
  bytes += cost_of(block);
  return block;
}

void operator delete(void* block) noexcept {
  if (block != nullptr) bytes -= cost_of(block);
  std::free(block);
}

void operator delete(void* block, std::size_t /*size*/) noexcept { ::operator delete(block); }
