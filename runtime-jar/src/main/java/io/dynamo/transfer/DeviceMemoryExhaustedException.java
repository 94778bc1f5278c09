package io.dynamo.transfer;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.Refused;

/** A GPU has no room for a region. */
public final class DeviceMemoryExhaustedException extends Refused {
  public DeviceMemoryExhaustedException(String device, long byteSize) {
    super(
        ErrorCode.RESOURCE_EXHAUSTED,
        "the GPU %s has no room for a region of %d bytes; leave more of it free of engines, or ask for fewer"
            .formatted(device, byteSize),
        null);
  }
}
