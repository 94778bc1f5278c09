#include "crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace dynamo {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

using Table = std::array<uint32_t, 256>;

/// tables[k][b] is byte b followed by k zero bytes: eight bytes per step ("slicing by 8").
constexpr std::array<Table, 8> makeTables() {
  std::array<Table, 8> tables{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; k++) {
    for (uint32_t byte = 0; byte < 256; byte++) {
      uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr std::array<Table, 8> kTables = makeTables();

uint64_t load64(const uint8_t* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

uint32_t byteStep(uint32_t crc, uint8_t byte) { return (crc >> 8) ^ kTables[0][(crc ^ byte) & 0xff]; }

#if defined(__x86_64__)

/// The state after `zeros` more zero bytes is linear in the state: four look-ups, one per byte of it.
class ZeroShift {
 public:
  explicit ZeroShift(size_t zeros) {
    for (size_t k = 0; k < 4; k++) {
      for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte << (8 * k);
        // Only powers of two of a byte need the walk; the rest are their sums.
        uint32_t low = byte & (byte - 1);
        if (low != 0) {
          tables_[k][byte] = tables_[k][low] ^ tables_[k][byte ^ low];
          continue;
        }
        for (size_t i = 0; byte != 0 && i < zeros; i++) crc = byteStep(crc, 0);
        tables_[k][byte] = crc;
      }
    }
  }

  uint32_t operator()(uint32_t crc) const {
    return tables_[0][crc & 0xff] ^ tables_[1][(crc >> 8) & 0xff] ^ tables_[2][(crc >> 16) & 0xff] ^
           tables_[3][crc >> 24];
  }

 private:
  std::array<Table, 4> tables_{};
};

constexpr size_t kLane = 2048;

/// The instruction has a latency of three cycles and starts every cycle, so three lanes run side by side.
__attribute__((target("sse4.2"))) uint32_t crc32cBySse42(const void* data, size_t length) {
  static const ZeroShift shiftOneLane(kLane);
  auto* at = static_cast<const uint8_t*>(data);
  uint64_t crc = 0xffffffff;
  while (length >= 3 * kLane) {
    uint64_t second = 0;
    uint64_t third = 0;
    for (size_t i = 0; i < kLane; i += 8) {
      crc = _mm_crc32_u64(crc, load64(at + i));
      second = _mm_crc32_u64(second, load64(at + kLane + i));
      third = _mm_crc32_u64(third, load64(at + 2 * kLane + i));
    }
    crc = shiftOneLane(static_cast<uint32_t>(crc)) ^ second;
    crc = shiftOneLane(static_cast<uint32_t>(crc)) ^ third;
    at += 3 * kLane;
    length -= 3 * kLane;
  }
  for (; length >= 8; at += 8, length -= 8) crc = _mm_crc32_u64(crc, load64(at));
  auto tail = static_cast<uint32_t>(crc);
  for (; length > 0; at++, length--) tail = _mm_crc32_u8(tail, *at);
  return ~tail;
}

bool hasSse42() { return __builtin_cpu_supports("sse4.2") != 0; }

#endif

}  // namespace

uint32_t crc32cByTable(const void* data, size_t length) {
  auto* at = static_cast<const uint8_t*>(data);
  uint32_t crc = 0xffffffff;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (; length >= 8; at += 8, length -= 8) {
    uint64_t word = load64(at) ^ crc;
    crc = 0;
    for (size_t k = 0; k < 8; k++) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  }
#endif
  for (; length > 0; at++, length--) crc = byteStep(crc, *at);
  return ~crc;
}

uint32_t crc32c(const void* data, size_t length) {
#if defined(__x86_64__)
  static const bool fast = hasSse42();
  if (fast) return crc32cBySse42(data, length);
#endif
  return crc32cByTable(data, length);
}

const char* crc32cWay() {
#if defined(__x86_64__)
  if (hasSse42()) return "sse4.2";
#endif
  return "table";
}

}  // namespace dynamo
