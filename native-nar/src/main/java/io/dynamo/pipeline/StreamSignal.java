package io.dynamo.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The control signals of a call-home stream: each is one JSON string as the header of a frame. */
public enum StreamSignal {
  /** Sent by the requester: finish early; the tokens so far still count. */
  STOP("\"stop\""),
  /** Sent by the requester: abandon the work. */
  KILL("\"kill\""),
  /** Sent by the worker, and by the requester at the end of an input: nothing follows. */
  SENTINEL("\"sentinel\"");

  private final String json;

  StreamSignal(String json) {
    this.json = json;
  }

  /** Returns the header of the frame that carries the signal. */
  public byte[] header() {
    return json.getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns the signal of a frame's header, or null when it is none. */
  public static @Nullable StreamSignal of(byte[] header) {
    for (var signal : values()) {
      if (Arrays.equals(signal.header(), header)) {
        return signal;
      }
    }
    return null;
  }
}
