package io.dynamo.pipeline.zmtp;

import static io.dynamo.pipeline.zmtp.ZmtpBytes.COMMAND;
import static io.dynamo.pipeline.zmtp.ZmtpBytes.LONG;
import static io.dynamo.pipeline.zmtp.ZmtpBytes.MORE;

import io.dynamo.pipeline.FrameException;
import io.dynamo.pipeline.Sockets;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.DecoderException;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection from its first byte on: sends the greeting, performs the handshake, reads frames,
 * answers and sends heartbeats. A violation of the protocol closes it. Belongs to the channel's
 * event loop.
 */
abstract class ZmtpHandler extends ByteToMessageDecoder {
  private enum State {
    GREETING,
    READY,
    OPEN
  }

  private static final System.Logger LOG = System.getLogger(ZmtpHandler.class.getName());
  private static final long HANDSHAKE_MILLIS = 5_000;
  private static final long BEAT_MILLIS = 5_000;
  private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(15);
  private static final int SILENCE_TENTHS = 150; // the same, in a ping's unit
  private static final long TENTH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int MAX_HANDSHAKE_BYTES = 8192;
  private static final int MAX_CONTEXT_BYTES = 16; // bytes of a ping's context
  private static final String SOCKET_TYPE = "Socket-Type";

  private final String type;
  private final Set<String> partners;
  private final int maxFrameBytes;
  private final boolean beats;
  private State state = State.GREETING;
  private @Nullable Future<?> timer;
  private boolean closing;
  private @Nullable String violation;
  private long heardNanos;
  private long patienceNanos; // with a silent peer; 0 for no limit

  /**
   * @param type this side's socket type
   * @param partners socket types that the peer may have
   * @param beats whether the peer is pinged, and disconnected when it stays silent
   */
  ZmtpHandler(String type, Set<String> partners, int maxFrameBytes, boolean beats) {
    this.type = type;
    this.partners = partners;
    this.maxFrameBytes = maxFrameBytes;
    this.beats = beats;
  }

  /** Called when the handshake is done. */
  abstract void opened(ChannelHandlerContext context);

  /**
   * Called for each frame of a message.
   *
   * @param body valid during the call only
   */
  abstract void frame(ByteBuf body, boolean more) throws FrameException;

  /** Called for SUBSCRIBE and CANCEL, which peers of ZMTP 3.1 may send. */
  abstract void subscription(ByteBuf prefix, boolean wanted) throws FrameException;

  /** Called once when the connection has ended, or could not be opened. */
  abstract void ended(@Nullable String violation);

  @Override
  public void channelActive(ChannelHandlerContext context) {
    write(context, ZmtpBytes.greeting());
    timer =
        context
            .executor()
            .schedule(() -> tooSlow(context), HANDSHAKE_MILLIS, TimeUnit.MILLISECONDS);
    context.fireChannelActive();
  }

  private void tooSlow(ChannelHandlerContext context) {
    violation = "no handshake within " + HANDSHAKE_MILLIS + " ms";
    closing = true;
    Sockets.close(context.channel());
  }

  /** Records a sign of life of the peer. Called on the loop. */
  final void alive() {
    heardNanos = System.nanoTime();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) throws Exception {
    alive();
    super.channelRead(context, bytes);
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
      throws FrameException {
    if (closing) {
      in.skipBytes(in.readableBytes());
    } else if (state == State.GREETING) {
      greeting(context, in);
    } else {
      readFrame(context, in);
    }
  }

  private void greeting(ChannelHandlerContext context, ByteBuf in) throws FrameException {
    int at = in.readerIndex();
    if (in.getUnsignedByte(at) != 0xff) {
      throw new FrameException("a first byte that is none of ZMTP");
    }
    if (in.readableBytes() < ZmtpBytes.GREETING_BYTES) {
      return;
    }
    if ((in.getByte(at + ZmtpBytes.SIGNATURE_END) & 1) == 0) {
      throw new FrameException("a signature that is none of ZMTP");
    }
    int major = in.getUnsignedByte(at + ZmtpBytes.VERSION_AT);
    if (major < 3) {
      throw new FrameException("ZMTP " + major + ", where 3 is the least");
    }
    var mechanism = new byte[ZmtpBytes.MECHANISM_BYTES];
    in.getBytes(at + ZmtpBytes.MECHANISM_AT, mechanism);
    if (!Arrays.equals(mechanism, Arrays.copyOf(ZmtpBytes.MECHANISM, mechanism.length))) {
      throw new FrameException("a security mechanism other than NULL");
    }
    in.skipBytes(ZmtpBytes.GREETING_BYTES);
    state = State.READY;
    write(context, ZmtpBytes.ready(type));
  }

  private void readFrame(ChannelHandlerContext context, ByteBuf in) throws FrameException {
    int at = in.readerIndex();
    int flags = in.getUnsignedByte(at);
    if ((flags & ~(MORE | LONG | COMMAND)) != 0 || (flags & (MORE | COMMAND)) == (MORE | COMMAND)) {
      throw new FrameException("a frame of flags %x".formatted(flags));
    }
    boolean isLong = (flags & LONG) != 0;
    int header = isLong ? ZmtpBytes.LONG_HEADER_BYTES : ZmtpBytes.SHORT_HEADER_BYTES;
    if (in.readableBytes() < header) {
      return;
    }
    long length = isLong ? in.getLong(at + 1) : in.getUnsignedByte(at + 1);
    int most = state == State.OPEN ? maxFrameBytes : Math.min(maxFrameBytes, MAX_HANDSHAKE_BYTES);
    if (length < 0 || length > most) {
      throw new FrameException(
          "a frame of %s bytes, where %d are the most"
              .formatted(Long.toUnsignedString(length), most));
    }
    if (in.readableBytes() < header + length) {
      return;
    }
    var body = in.skipBytes(header).readSlice((int) length);
    if ((flags & COMMAND) != 0) {
      command(context, body);
    } else if (state == State.OPEN) {
      frame(body, (flags & MORE) != 0);
    } else {
      throw new FrameException("a message before the handshake");
    }
  }

  private void command(ChannelHandlerContext context, ByteBuf body) throws FrameException {
    var name = text(body, length(body, 1));
    if (state == State.READY) {
      switch (name) {
        case "READY" -> ready(context, body);
        case "ERROR" -> throw new FrameException("a refusal: " + reason(body));
        default -> throw new FrameException("a command before the handshake");
      }
      return;
    }
    switch (name) {
      case "PING" -> ping(context, body);
      case "SUBSCRIBE" -> subscription(body, true);
      case "CANCEL" -> subscription(body, false);
      case "ERROR" -> throw new FrameException("an error: " + reason(body));
      default -> {} // a pong counts by its bytes; others are of later protocols
    }
  }

  private void ready(ChannelHandlerContext context, ByteBuf data) throws FrameException {
    String other = null;
    while (data.isReadable()) {
      var property = text(data, length(data, 1));
      var value = text(data, length(data, Integer.BYTES));
      if (property.equalsIgnoreCase(SOCKET_TYPE)) {
        other = value;
      }
    }
    if (other == null || !partners.contains(other)) {
      throw new FrameException(
          "a socket of type %s, where one of %s is expected"
              .formatted(other == null ? "unknown" : printable(other), partners));
    }
    state = State.OPEN;
    stopTimer();
    if (beats) {
      patienceNanos = SILENCE_NANOS;
      beat(context);
    }
    opened(context);
  }

  /** Reads a length, and checks that as many bytes follow. */
  private static int length(ByteBuf in, int lengthBytes) throws FrameException {
    if (in.readableBytes() >= lengthBytes) {
      long length = lengthBytes == 1 ? in.readUnsignedByte() : in.readUnsignedInt();
      if (length <= in.readableBytes()) {
        return (int) length;
      }
    }
    throw new FrameException("a command that is cut off");
  }

  private static String text(ByteBuf in, int length) {
    return in.readCharSequence(length, StandardCharsets.ISO_8859_1).toString();
  }

  /** Reads the reason that the peer gives, with unprintable characters replaced for the log. */
  private static String reason(ByteBuf in) throws FrameException {
    return printable(text(in, length(in, 1)));
  }

  private static String printable(String text) {
    return text.replaceAll("[^ -~]", "?");
  }

  private void ping(ChannelHandlerContext context, ByteBuf data) throws FrameException {
    if (data.readableBytes() < Short.BYTES
        || data.readableBytes() > Short.BYTES + MAX_CONTEXT_BYTES) {
      throw new FrameException("a ping of %d bytes".formatted(data.readableBytes()));
    }
    long ttl = data.readUnsignedShort() * TENTH_NANOS;
    if (!beats && ttl > 0) {
      patienceNanos = ttl;
      if (timer == null) {
        beat(context);
      }
    }
    if (context.channel().isWritable()) { // else the peer does not read, and gets no pong
      write(context, ZmtpBytes.pong(data));
    }
  }

  private void beat(ChannelHandlerContext context) {
    timer =
        context
            .executor()
            .schedule(
                () -> {
                  if (System.nanoTime() - heardNanos > patienceNanos) {
                    Sockets.close(context.channel());
                    return;
                  }
                  if (beats && context.channel().isWritable()) {
                    write(context, ZmtpBytes.ping(SILENCE_TENTHS));
                  }
                  beat(context);
                },
                BEAT_MILLIS,
                TimeUnit.MILLISECONDS);
  }

  static void write(ChannelHandlerContext context, ByteBuf bytes) {
    Sockets.write(context.channel(), bytes);
    context.flush();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
    super.userEventTriggered(context, event);
    if (event instanceof ChannelInputShutdownEvent) {
      Sockets.close(context.channel()); // the protocol has no half-closed connections
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    boolean first = !closing;
    closing = true; // no further bytes are read
    if (first
        && cause instanceof DecoderException
        && cause.getCause() instanceof FrameException wrong) {
      violation = String.valueOf(wrong.getMessage());
    } else if (first && !(cause instanceof IOException)) {
      LOG.log(Level.WARNING, "a connection of ZeroMQ failed", cause);
    }
    Sockets.close(context.channel());
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    try {
      super.channelInactive(context);
    } finally {
      stopTimer();
      ended(violation);
    }
  }

  private void stopTimer() {
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
  }
}
