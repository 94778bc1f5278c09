package io.dynamo.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The control signals of a call-home stream: each is one JSON string as the header of a frame. */
public enum StreamSignal {
  /** Requester: finish early; what is there still counts. */
  STOP("\"stop\""),
  /** Requester: abandon the work. */
  KILL("\"kill\""),
  /** Worker, and requester at the end of an input: nothing follows. */
  SENTINEL("\"sentinel\"");

  private final String json;

  StreamSignal(String json) {
    this.json = json;
  }

  byte[] header() {
    return json.getBytes(StandardCharsets.US_ASCII);
  }

  /** The signal of a frame's header, or null when it is none. */
  static @Nullable StreamSignal of(byte[] header) {
    for (var signal : values()) {
      if (Arrays.equals(signal.header(), header)) {
        return signal;
      }
    }
    return null;
  }
}
