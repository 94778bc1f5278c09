#include "move.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dynamo {
namespace {

void throughCache(std::byte* target, const std::byte* source, size_t length) {
  std::memcpy(target, source, length);
}

#if defined(__x86_64__)

/// The bytes before the first address of `target` that is a multiple of `alignment`, at most `length`.
size_t untilAligned(const std::byte* target, size_t alignment, size_t length) {
  size_t odd = reinterpret_cast<uintptr_t>(target) & (alignment - 1);
  size_t head = odd == 0 ? 0 : alignment - odd;
  return head < length ? head : length;
}

__attribute__((target("avx2"))) void byAvx2(std::byte* target, const std::byte* source, size_t length) {
  constexpr size_t kVector = 32;
  size_t at = untilAligned(target, kVector, length);
  std::memcpy(target, source, at);
  for (; length - at >= 4 * kVector; at += 4 * kVector) {
    const auto* from = reinterpret_cast<const __m256i*>(source + at);
    auto* to = reinterpret_cast<__m256i*>(target + at);
    __m256i a = _mm256_loadu_si256(from);
    __m256i b = _mm256_loadu_si256(from + 1);
    __m256i c = _mm256_loadu_si256(from + 2);
    __m256i d = _mm256_loadu_si256(from + 3);
    _mm256_stream_si256(to, a);
    _mm256_stream_si256(to + 1, b);
    _mm256_stream_si256(to + 2, c);
    _mm256_stream_si256(to + 3, d);
  }
  _mm_sfence();  // others see these bytes no later than what is stored after them
  std::memcpy(target + at, source + at, length - at);
}

__attribute__((target("avx512f"))) void byAvx512(std::byte* target, const std::byte* source, size_t length) {
  constexpr size_t kVector = 64;
  size_t at = untilAligned(target, kVector, length);
  std::memcpy(target, source, at);
  for (; length - at >= 2 * kVector; at += 2 * kVector) {
    __m512i a = _mm512_loadu_si512(source + at);
    __m512i b = _mm512_loadu_si512(source + at + kVector);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target + at), a);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target + at + kVector), b);
  }
  _mm_sfence();
  std::memcpy(target + at, source + at, length - at);
}

#endif

std::vector<MoveWay> waysHere() {
  std::vector<MoveWay> ways;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) ways.push_back({"avx512", byAvx512});
  if (__builtin_cpu_supports("avx2")) ways.push_back({"avx2", byAvx2});
#endif
  ways.push_back({"memcpy", throughCache});
  return ways;
}

}  // namespace

const std::vector<MoveWay>& moveWays() {
  static const std::vector<MoveWay>& ways = *new std::vector<MoveWay>(waysHere());
  return ways;
}

void moveBytes(std::byte* target, const std::byte* source, size_t length) {
  if (length < kStreamBytes) {
    std::memcpy(target, source, length);
  } else {
    moveWays().front().copy(target, source, length);
  }
}

}  // namespace dynamo
