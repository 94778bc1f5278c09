package io.dynamo.transfer.tcp;

import java.io.IOException;

/** A peer broke the protocol; its connection is closed. */
final class RegionProtocolException extends IOException {
  private static final long serialVersionUID = 1;

  RegionProtocolException(String message) {
    super(message);
  }
}
