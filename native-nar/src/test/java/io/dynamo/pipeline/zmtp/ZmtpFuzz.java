package io.dynamo.pipeline.zmtp;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Fuzz target: any bytes from a ZeroMQ peer, to the subscribing and to the publishing side. The
 * first byte of the input chooses the side, the size of the pieces and whether the peer performs a
 * correct handshake first. Bytes are read, or the connection is closed; no exception escapes the
 * handler.
 */
public final class ZmtpFuzz {
  private static final int MAX_FRAME_BYTES = 1 << 20;
  private static final int SIDE = 1;
  private static final int HANDSHAKE = 2;

  private ZmtpFuzz() {}

  /** Called by the fuzzer and by the replay of the corpus. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    int choice = input[0];
    boolean publisher = (choice & SIDE) != 0;
    var channel =
        new EmbeddedChannel(
            publisher
                ? new PublisherHandler(
                    ZmtpPublisher.unbound(new ZmtpLimits(MAX_FRAME_BYTES, 8, 1 << 20), () -> {}),
                    new ZmtpLimits(MAX_FRAME_BYTES, 8, 1 << 20),
                    null)
                : new SubscriberHandler(new byte[0], 3, MAX_FRAME_BYTES, new Listener()));
    try {
      if ((choice & HANDSHAKE) != 0) {
        write(channel, latin(BarePeer.greeting()));
        write(channel, latin(publisher ? BarePeer.READY_SUB : BarePeer.READY_PUB));
      }
      int piece = 1 + ((choice >> 2) & 63);
      for (int at = 1; at < input.length && channel.isOpen(); at += piece) {
        write(channel, Arrays.copyOfRange(input, at, Math.min(input.length, at + piece)));
      }
      channel.checkException();
    } finally {
      channel.finishAndReleaseAll();
    }
  }

  private static byte[] latin(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static void write(EmbeddedChannel channel, byte[] bytes) {
    if (channel.isOpen()) {
      channel.writeInbound(Unpooled.wrappedBuffer(bytes));
      channel.releaseOutbound();
    }
  }

  /** Asserts that the connection ends once, and that no message has more frames than requested. */
  private static final class Listener implements ZmtpListener {
    private boolean ended;

    @Override
    public void up() {}

    @Override
    public void message(byte[][] frames, int count) {
      if (count < 1 || ended) {
        throw new IllegalStateException("a message of %d frames, ended %b".formatted(count, ended));
      }
    }

    @Override
    public void ended(@Nullable String violation) {
      if (ended) {
        throw new IllegalStateException("the connection ended twice");
      }
      ended = true;
    }
  }
}
