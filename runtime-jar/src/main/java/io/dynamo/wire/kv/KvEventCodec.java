package io.dynamo.wire.kv;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.kv.RankEvent;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The payload of the topic {@code kv-events}: a msgpack array of Dynamo's {@code RouterEvent} maps.
 * Stateless.
 */
public final class KvEventCodec {
  private KvEventCodec() {}

  public static byte[] encode(List<RankEvent> events) {
    return WireWriter.write(events, PayloadFormat.MSGPACK, RouterEventShape::writeAll);
  }

  /**
   * Reads a whole payload.
   *
   * @throws IllegalArgumentException when it is not an array of events
   */
  public static List<RankEvent> decode(byte[] payload) {
    try {
      return WireReader.read(
          "KV event payload",
          ByteBuffer.wrap(payload),
          PayloadFormat.MSGPACK,
          RouterEventShape::readAll);
    } catch (InvalidRequestException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }
}
