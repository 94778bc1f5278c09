package io.dynamo.request.tcp;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.generate.GenerateCodec;
import io.dynamo.wire.request.ControlMessage;
import io.dynamo.wire.request.RequestHeaders;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Fuzz target: any bytes on a worker's request connection, from the frame to the request that it
 * carries. Each part is read or refused with the exception that the receiver answers.
 */
public final class RequestFrameFuzz {
  private static final int MAX_FRAME_BYTES = 1 << 20;

  private RequestFrameFuzz() {}

  /** Called by the fuzzer and by the replay of the corpus. */
  public static void fuzzerTestOneInput(byte[] input) {
    var in = Unpooled.wrappedBuffer(input);
    try {
      for (var frame = next(in); frame != null; frame = next(in)) {
        RequestHeaders.ofJson(frame.headers());
        readControl(frame.control());
        for (var format : PayloadFormat.values()) {
          readRequest(frame.body(), format);
        }
      }
    } catch (RequestFrame.TooLargeException refused) {
      if (refused.refusal.isEmpty()) {
        throw new IllegalStateException("a refusal without a reason", refused);
      }
    }
  }

  private static @Nullable RequestFrame next(ByteBuf in) throws RequestFrame.TooLargeException {
    return RequestFrame.read(in, MAX_FRAME_BYTES);
  }

  private static void readControl(byte[] json) {
    try {
      ControlMessage.ofJson(ByteBuffer.wrap(json));
    } catch (InvalidRequestException _) {
      // refused, as it should be
    }
  }

  private static void readRequest(byte[] body, PayloadFormat format) {
    try {
      new GenerateCodec().decodeRequest(ByteBuffer.wrap(body), format);
    } catch (InvalidRequestException _) {
      // refused, as it should be
    }
  }
}
