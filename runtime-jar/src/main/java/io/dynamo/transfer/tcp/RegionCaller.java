package io.dynamo.transfer.tcp;

import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionExchange.Range;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.tcp.RegionFrame.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The side of a connection that moves a range between a region of its own and the peer's: calls the
 * peer, authenticates both sides by the lease's secret, and ends the transfer. Used by one event
 * loop; touches no region once the transfer has ended.
 */
abstract class RegionCaller extends ChannelInboundHandlerAdapter implements FrameReader.Sink {
  /** The most bytes of one message. */
  static final int PIECE_BYTES = 256 * 1024;

  /** The most messages that the peer has not answered yet. */
  static final int MOST_UNANSWERED = 32;

  private static final SecureRandom RANDOM = new SecureRandom();

  /**
   * The bytes that are moved.
   *
   * @param own the source of a write, the target of a read
   * @param peer the other side
   */
  record Order(Region own, Range range, RegionAddress peer) {
    long byteSize() {
      return range.byteSize();
    }
  }

  final Order order;
  private final Transfer transfer;
  private final FrameReader reader = new FrameReader(this);
  private final byte[] nonce = new byte[Proofs.NONCE_BYTES];
  private final byte[] answer = new byte[Proofs.NONCE_BYTES + Proofs.PROOF_BYTES];
  private boolean proved;
  private boolean over; // further bytes are dropped
  private @Nullable ChannelHandlerContext channel;

  RegionCaller(Order order, Transfer transfer) {
    this.order = order;
    this.transfer = transfer;
  }

  /** Returns whether a message of the transfer may come now. */
  abstract boolean isExpected(RegionFrame frame);

  /**
   * Takes the next bytes of such a message.
   *
   * @throws IllegalStateException when the own region is closed
   */
  abstract void take(RegionFrame frame, ByteBuffer bytes, int done);

  /** Ends such a message; {@link #finish} follows the last one. */
  abstract void taken(RegionFrame frame);

  /**
   * Returns the next message, or null while there is none to send.
   *
   * @throws IllegalStateException when the own region is closed
   */
  abstract @Nullable ByteBuf next();

  @Override
  public void channelActive(ChannelHandlerContext context) {
    channel = context;
    RANDOM.nextBytes(nonce);
    var _ =
        context.writeAndFlush(
            RegionFrame.message(context.alloc(), Kind.HELLO, 1, order.peer.lease(), nonce),
            context.voidPromise());
    context.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    fail(Reason.PEER_LOST, "the peer closed the connection", null);
    context.fireChannelInactive();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      fail(Reason.PEER_LOST, "the peer closed the connection", null);
    }
    context.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    fail(Reason.PEER_LOST, "the connection failed: " + cause.getMessage(), cause);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    var in = (ByteBuf) message;
    try {
      if (!over) {
        reader.read(in);
      }
    } catch (RegionProtocolException violation) {
      fail(Reason.CORRUPT, violation.getMessage(), violation);
    } finally {
      in.release();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    send();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    send();
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void begin(RegionFrame frame) throws RegionProtocolException {
    boolean expected =
        over
            || switch (frame.kind()) {
              case HELLO -> !proved && frame.flags() == 2 && frame.length() == answer.length;
              case ACK, DATA -> proved && isExpected(frame);
              case ERROR -> frame.length() == 0;
              case WRITE, READ, BYE -> false;
            };
    if (!expected) {
      throw new RegionProtocolException("the peer sent " + frame + " out of turn");
    }
  }

  @Override
  public void payload(RegionFrame frame, ByteBuffer bytes, int done) {
    if (over || !channel().channel().isOpen()) { // a transfer ends with its connection
      return;
    }
    if (!proved) {
      bytes.get(answer, done, bytes.remaining()); // within: begin() checked the length
      return;
    }
    try {
      take(frame, bytes, done);
    } catch (IllegalStateException closed) {
      fail(Reason.STALE, "the region here is closed", closed);
    }
  }

  @Override
  public void end(RegionFrame frame) {
    if (over || !channel().channel().isOpen()) {
      return;
    }
    switch (frame.kind()) {
      case HELLO -> prove();
      case ACK, DATA -> taken(frame);
      case ERROR -> {
        var reason = Reason.of(frame.flags());
        fail(reason, "the peer refused: " + reason, null);
      }
      case WRITE, READ, BYE -> {} // refused by begin()
    }
  }

  private void prove() {
    long lease = order.peer.lease();
    var secret = order.peer.secret();
    var theirs = Arrays.copyOf(answer, Proofs.NONCE_BYTES);
    var proof = Arrays.copyOfRange(answer, Proofs.NONCE_BYTES, answer.length);
    if (!Proofs.isSame(proof, Proofs.ofOwner(secret, lease, nonce, theirs))) {
      fail(Reason.UNAUTHENTICATED, "the peer does not know the secret of the region", null);
      return;
    }
    proved = true;
    var ours = Proofs.ofCaller(secret, lease, nonce, theirs);
    var _ =
        channel()
            .write(
                RegionFrame.message(channel().alloc(), Kind.HELLO, 3, lease, ours),
                channel().voidPromise());
    if (order.byteSize() == 0) {
      finish();
    }
  }

  /** Sends messages until the socket or the window is full. */
  private void send() {
    boolean any = false;
    while (proved && !over && channel().channel().isWritable()) {
      ByteBuf message;
      try {
        message = next();
      } catch (IllegalStateException closed) {
        fail(Reason.STALE, "the region here is closed", closed);
        return;
      }
      if (message == null) {
        break;
      }
      var _ = channel().write(message, channel().voidPromise());
      any = true;
    }
    if (any) {
      var _ = channel().flush();
    }
  }

  /** Completes the transfer, whose last byte is in place. */
  final void finish() {
    over = true;
    transfer.complete(order.byteSize());
    var bye = RegionFrame.of(Kind.BYE, 0, 0, order.peer.lease());
    var _ =
        channel()
            .writeAndFlush(bye.message(channel().alloc()))
            .addListener(ChannelFutureListener.CLOSE);
  }

  private void fail(Reason reason, @Nullable String what, @Nullable Throwable cause) {
    over = true;
    transfer.fail(
        new TransferFailedException(
            reason,
            "%s failed: %s".formatted(order.peer.transferOf(order.byteSize()), what),
            cause));
    var context = channel;
    if (context != null) {
      var _ = context.close();
    }
  }

  final ChannelHandlerContext channel() {
    return Objects.requireNonNull(channel, "not before the channel is active");
  }
}
