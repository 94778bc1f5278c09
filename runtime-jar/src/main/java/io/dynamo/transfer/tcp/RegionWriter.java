package io.dynamo.transfer.tcp;

import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionExchange;
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
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Authenticates both sides by the lease's secret, then writes the bytes of a region in pieces, as
 * many at a time as the socket takes, and ends the transfer when the last one is acknowledged. Used
 * by one event loop.
 */
final class RegionWriter extends ChannelInboundHandlerAdapter implements FrameReader.Sink {
  static final int PIECE_BYTES = 256 * 1024;

  private static final int MOST_UNACKNOWLEDGED = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Region source;
  private final RegionExchange.Range range;
  private final long byteSize;
  private final RegionAddress to;
  private final Transfer transfer;
  private final FrameReader reader = new FrameReader(this);
  private final byte[] nonce = new byte[Proofs.NONCE_BYTES];
  private final byte[] answer = new byte[Proofs.NONCE_BYTES + Proofs.PROOF_BYTES];
  private boolean proved;
  private long sent; // bytes, and so the offset of the next piece in the range
  private long nextTicket = 1;
  private long acknowledged; // the ticket of the last piece that is in place
  private @Nullable ChannelHandlerContext channel;

  RegionWriter(Region source, RegionExchange.Range range, RegionAddress to, Transfer transfer) {
    this.source = source;
    this.range = range;
    this.byteSize = range.byteSize();
    this.to = to;
    this.transfer = transfer;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    channel = context;
    RANDOM.nextBytes(nonce);
    var _ =
        context.writeAndFlush(
            RegionFrame.message(context.alloc(), Kind.HELLO, 1, to.lease(), nonce),
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
      reader.read(in);
    } catch (RegionProtocolException violation) {
      fail(Reason.CORRUPT, violation.getMessage(), violation);
    } finally {
      in.release();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    write();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    write();
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void begin(RegionFrame frame) throws RegionProtocolException {
    boolean expected =
        switch (frame.kind()) {
          case HELLO -> !proved && frame.flags() == 2 && frame.length() == answer.length;
          case ACK -> proved && frame.length() == 0 && frame.ticket() == acknowledged + 1;
          case ERROR -> frame.length() == 0;
          case WRITE, BYE -> false;
        };
    if (!expected) {
      throw new RegionProtocolException("the peer sent " + frame + " out of turn");
    }
  }

  @Override
  public void payload(RegionFrame frame, ByteBuffer bytes, int done) {
    bytes.get(answer, done, bytes.remaining()); // within: begin() checked the length
  }

  @Override
  public void end(RegionFrame frame) {
    switch (frame.kind()) {
      case HELLO -> prove();
      case ACK -> {
        acknowledged = frame.ticket();
        if (sent == byteSize && acknowledged == nextTicket - 1) {
          finish();
        }
      }
      case ERROR -> {
        var reason = Reason.of(frame.flags());
        fail(reason, "the peer refused: " + reason, null);
      }
      case WRITE, BYE -> {} // refused by begin()
    }
  }

  private void prove() {
    var theirs = Arrays.copyOf(answer, Proofs.NONCE_BYTES);
    var proof = Arrays.copyOfRange(answer, Proofs.NONCE_BYTES, answer.length);
    if (!Proofs.isSame(proof, Proofs.ofOwner(to.secret(), to.lease(), nonce, theirs))) {
      fail(Reason.UNAUTHENTICATED, "the peer does not know the secret of the region", null);
      return;
    }
    proved = true;
    var ours = Proofs.ofWriter(to.secret(), to.lease(), nonce, theirs);
    var _ =
        channel()
            .write(
                RegionFrame.message(channel().alloc(), Kind.HELLO, 3, to.lease(), ours),
                channel().voidPromise());
    if (byteSize == 0) {
      finish();
    }
  }

  /** Writes pieces until the socket or the window is full. */
  private void write() {
    if (!proved) {
      return;
    }
    boolean any = false;
    while (sent < byteSize
        && nextTicket - acknowledged <= MOST_UNACKNOWLEDGED
        && channel().channel().isWritable()) {
      int length = (int) Math.min(PIECE_BYTES, byteSize - sent);
      ByteBuf piece;
      try {
        piece = piece(length);
      } catch (IllegalStateException closed) {
        fail(Reason.STALE, "the source is closed", closed);
        return;
      }
      var _ = channel().write(piece, channel().voidPromise());
      sent += length;
      any = true;
    }
    if (any) {
      var _ = channel().flush();
    }
  }

  private ByteBuf piece(int length) {
    var out =
        channel()
            .alloc()
            .directBuffer(RegionFrame.HEADER_BYTES + length, RegionFrame.HEADER_BYTES + length);
    try {
      source.read(range.sourceOffset() + sent, out.nioBuffer(RegionFrame.HEADER_BYTES, length));
      var crc = new CRC32C();
      crc.update(out.nioBuffer(RegionFrame.HEADER_BYTES, length));
      long at = range.targetOffset() + sent;
      new RegionFrame(Kind.WRITE, 0, nextTicket, to.lease(), at, length, (int) crc.getValue())
          .write(out);
      nextTicket++;
      return out.writerIndex(RegionFrame.HEADER_BYTES + length);
    } catch (RuntimeException failure) {
      out.release();
      throw failure;
    }
  }

  private void finish() {
    transfer.complete(byteSize);
    var bye = RegionFrame.of(Kind.BYE, 0, 0, to.lease());
    var _ =
        channel()
            .writeAndFlush(bye.message(channel().alloc()))
            .addListener(ChannelFutureListener.CLOSE);
  }

  private void fail(Reason reason, @Nullable String what, @Nullable Throwable cause) {
    transfer.fail(
        new TransferFailedException(
            reason, "writing %d bytes to the %s failed: %s".formatted(byteSize, to, what), cause));
    var context = channel;
    if (context != null) {
      var _ = context.close();
    }
  }

  private ChannelHandlerContext channel() {
    return Objects.requireNonNull(channel, "not before the channel is active");
  }
}
