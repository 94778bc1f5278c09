package io.dynamo.transfer.jni;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.Refused;

/** A GPU, or the driver's library, cannot be used by this process. */
public final class DeviceUnavailableException extends Refused {
  /**
   * @param why what is missing, and what it takes
   */
  public DeviceUnavailableException(String why) {
    super(ErrorCode.UNAVAILABLE, "no GPU can be used: " + why, null);
  }
}
