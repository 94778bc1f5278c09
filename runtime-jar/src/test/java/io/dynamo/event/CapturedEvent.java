package io.dynamo.event;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/** Events captured from Dynamo 1.6.1. */
public final class CapturedEvent {
  private CapturedEvent() {}

  /** The bytes of a file. */
  public static byte[] bytes(String name) {
    try (var in = CapturedEvent.class.getResourceAsStream("/golden/events-zmq/" + name)) {
      if (in == null) {
        throw new IllegalArgumentException("no golden file " + name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The frames of a message. */
  public static List<byte[]> frames(String name) {
    return new String(bytes(name + ".frames.hex"), StandardCharsets.US_ASCII)
        .lines()
        .map(line -> HexFormat.of().parseHex(line))
        .toList();
  }
}
