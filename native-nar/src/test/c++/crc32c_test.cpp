#include "../../main/c++/core/crc32c.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "check.h"

namespace {

void both(const void* data, size_t length, uint32_t expected) {
  CHECK(dynamo::crc32c(data, length) == expected);
  CHECK(dynamo::crc32cByTable(data, length) == expected);
}

/// https://www.rfc-editor.org/rfc/rfc3720#appendix-B.4, and the customary check value.
void matchesTheVectorsOfRfc3720() {
  uint8_t bytes[32];
  std::fill_n(bytes, 32, uint8_t{0});
  both(bytes, 32, 0x8a9136aa);
  std::fill_n(bytes, 32, uint8_t{0xff});
  both(bytes, 32, 0x62a8ab43);
  for (uint8_t i = 0; i < 32; i++) bytes[i] = i;
  both(bytes, 32, 0x46dd794e);
  std::reverse(bytes, bytes + 32);
  both(bytes, 32, 0x113fdb5c);
  const uint8_t scsiRead[48] = {0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0,
                                0x14, 0,    0, 0, 0, 0, 4, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18,
                                0x28, 0,    0, 0, 0, 0, 0, 0, 2, 0, 0, 0,    0, 0, 0, 0};
  both(scsiRead, 48, 0xd9963a56);
  both("123456789", 9, 0xe3069283);
  both("", 0, 0);
}

void bothWaysAgreeAtEveryLengthAndAlignment() {
  std::mt19937 random(7);
  std::vector<uint8_t> bytes(40000);
  for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
  for (size_t start = 0; start < 9; start++) {
    for (size_t length : {size_t{1}, size_t{7}, size_t{8}, size_t{15}, size_t{6143}, size_t{6144},
                          size_t{6145}, size_t{12288}, size_t{18439}, size_t{39990}}) {
      CHECK(dynamo::crc32c(&bytes[start], length) == dynamo::crc32cByTable(&bytes[start], length));
    }
  }
}

}  // namespace

void crc32cTests() {
  matchesTheVectorsOfRfc3720();
  bothWaysAgreeAtEveryLengthAndAlignment();
}
