package io.dynamo.transfer;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.Refused;
import org.jspecify.annotations.Nullable;

/** The machine, or the JVM's limit on direct memory, has no room for a region. */
public final class HostMemoryExhaustedException extends Refused {
  public HostMemoryExhaustedException(long byteSize, String remedy, @Nullable Throwable cause) {
    super(
        ErrorCode.RESOURCE_EXHAUSTED,
        "no room for a region of %d bytes of host memory; %s".formatted(byteSize, remedy),
        cause);
  }
}
