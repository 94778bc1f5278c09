#ifndef DYNAMO_CORE_CRC32C_H_
#define DYNAMO_CORE_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace dynamo {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) by the fastest way that this processor has.
uint32_t crc32c(const void* data, size_t length);

/// The same by tables, on any processor.
uint32_t crc32cByTable(const void* data, size_t length);

/// The way that crc32c() takes: "sse4.2" or "table".
const char* crc32cWay();

}  // namespace dynamo

#endif  // DYNAMO_CORE_CRC32C_H_
