package io.dynamo.net;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The encoding of request and item bodies. A worker advertises one; a worker that advertises none
 * reads JSON only.
 */
public enum PayloadFormat {
  JSON,
  MSGPACK;

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the format of a wire name; absent means JSON, as in releases before 1.4. */
  public static PayloadFormat ofWire(@Nullable String name) {
    if (name == null || name.equals("json")) {
      return JSON;
    }
    if (name.equals("msgpack")) {
      return MSGPACK;
    }
    throw new IllegalArgumentException(
        "payload codec \"" + name + "\" is neither json nor msgpack");
  }
}
