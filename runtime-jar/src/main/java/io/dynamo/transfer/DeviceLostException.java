package io.dynamo.transfer;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.Failed;

/**
 * A GPU failed in a way that ends all work of this process on it, until the process starts again.
 */
public final class DeviceLostException extends Failed {
  /**
   * @param failure what its driver reported
   */
  public DeviceLostException(String device, String failure) {
    super(
        ErrorCode.UNAVAILABLE,
        "the GPU %s is lost: %s; see the kernel's log, and start the process again"
            .formatted(device, failure),
        null);
  }
}
