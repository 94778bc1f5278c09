package io.dynamo.wire.kv;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.generate.GenerateCodec;
import io.dynamo.wire.request.ResponseEnvelope;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Fuzz target: any msgpack (or JSON) payload of an event or of an answer. The first byte of the
 * input chooses the reader. A payload is read, or refused with the exception that its reader
 * promises.
 */
public final class EventPayloadFuzz {
  private EventPayloadFuzz() {}

  /** Called by the fuzzer and by the replay of the corpus. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    var payload = Arrays.copyOfRange(input, 1, input.length);
    try {
      switch (Math.floorMod(input[0], 9)) {
        case 0 -> KvEventCodec.decode(payload);
        case 1 -> SequenceEventCodec.decode(payload);
        case 2 -> ActiveLoadCodec.decode(payload);
        case 3 -> ObjectEventCodec.decode(payload);
        case 4 -> SessionBindingCodec.decode(payload);
        case 5 -> new KvIndexCodec().decodeRequest(ByteBuffer.wrap(payload), PayloadFormat.MSGPACK);
        case 6 -> new KvQueryCodec().decodeItem(ByteBuffer.wrap(payload), PayloadFormat.MSGPACK);
        case 7 -> ResponseEnvelope.read(ByteBuffer.wrap(payload), PayloadFormat.MSGPACK);
        default -> new GenerateCodec().decodeItem(ByteBuffer.wrap(payload), PayloadFormat.MSGPACK);
      }
    } catch (IllegalArgumentException | InvalidRequestException _) {
      // refused, as it should be
    }
  }
}
