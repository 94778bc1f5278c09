package io.dynamo.transfer.tcp;

import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.tcp.RegionFrame.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Authenticates both sides by the lease's secret. Then writes received data into the region and
 * acknowledges each message once it is in place, or answers reads, as the lease permits. Used by
 * one event loop.
 *
 * <p>Reads wait until the peer has taken what was sent before, and until the answers of all
 * connections leave room: slow peers make this side hold a limited number of pieces in memory, and
 * of short questions. After a few answers, other connections of the event loop have their turn.
 *
 * <p>Every violation ends the connection, with the reason where the peer has proved itself, and so
 * do silence, a handshake that takes too long, and the end of the lease.
 */
final class RegionOwner extends ChannelInboundHandlerAdapter implements FrameReader.Sink {
  private static final System.Logger LOG = System.getLogger(RegionOwner.class.getName());
  private static final SecureRandom RANDOM = new SecureRandom();

  /** The stages of a connection, one after the other. */
  private sealed interface Stage {
    record Greeting() implements Stage {}

    record Proving(Leases.Lease lease, byte[] expected) implements Stage {}

    record Serving(Leases.Lease lease) implements Stage {}

    /** The peer was refused; further bytes are dropped. */
    record Refused() implements Stage {}
  }

  /** One piece that the peer has asked for. */
  private record Question(long ticket, long offset, int length) {}

  /** Reasons not to answer the next question now. */
  private enum Pause {
    NONE,
    /** Answers are being written, and a flush that makes room asks for more of them. */
    ANSWERING,
    /** Other connections of the event loop have their turn. */
    TURN,
    /** Answers of other connections use up the memory. */
    BUDGET
  }

  private static final int PIECES_OF_TURN = 4;

  private final Leases leases;
  private final AnswerBudget budget;
  private final long silenceMillis;
  private final FrameReader reader = new FrameReader(this);
  private Stage stage = new Stage.Greeting();
  private final byte[] small = // a payload of the handshake, or of a read
      new byte[Math.max(Proofs.NONCE_BYTES, Proofs.PROOF_BYTES)];
  private @Nullable ChannelHandlerContext channel;
  private @Nullable Future<?> watch;
  private boolean heard; // or the peer has taken a piece, since the last look of the watch
  private boolean flush; // acknowledgements wait to be sent
  private final Queue<Question> questions = new ArrayDeque<>(); // without an answer yet
  private Pause pause = Pause.NONE;

  /**
   * @param budget of the answers that wait for their peers, here and on other connections
   * @param silence after which a connection without bytes is closed; also the time for a handshake
   */
  RegionOwner(Leases leases, AnswerBudget budget, Duration silence) {
    this.leases = leases;
    this.budget = budget;
    this.silenceMillis = silence.toMillis();
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    channel = context;
    watch =
        context
            .executor()
            .scheduleAtFixedRate(
                () -> look(context), silenceMillis, silenceMillis, TimeUnit.MILLISECONDS);
    context.fireChannelActive();
  }

  /**
   * Ends a handshake that takes too long, a silent peer, one that was refused, and a dead lease.
   */
  private void look(ChannelHandlerContext context) {
    if (!heard || !(stage instanceof Stage.Serving(var lease))) {
      var _ = context.close();
    } else if (lease.isOver() && isWritable()) {
      refuse(Reason.STALE);
    } else if (lease.isOver()) {
      var _ = context.close(); // which frees the answers that the peer does not take
    }
    heard = false;
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    var looking = watch;
    if (looking != null) {
      looking.cancel(false);
    }
    context.fireChannelInactive();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    var in = (ByteBuf) message;
    try {
      heard = true;
      if (!(stage instanceof Stage.Refused)) {
        reader.read(in);
      }
    } catch (RegionProtocolException violation) {
      LOG.log(Level.DEBUG, "a connection for a region is closed: {0}", violation.getMessage());
      refuse(Reason.CORRUPT);
    } finally {
      in.release();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (flush) {
      flush = false;
      context.flush();
    }
    answerReads();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (!(cause instanceof IOException)) {
      LOG.log(Level.WARNING, "a connection for a region is closed", cause);
    }
    var _ = context.close();
  }

  @Override
  public void begin(RegionFrame frame) throws RegionProtocolException {
    switch (stage) {
      case Stage.Greeting _ -> requireHello(frame, 1, Proofs.NONCE_BYTES);
      case Stage.Proving _ -> requireHello(frame, 3, Proofs.PROOF_BYTES);
      case Stage.Serving(var lease) -> {
        boolean expected =
            switch (frame.kind()) {
              case WRITE -> frame.lease() == lease.id();
              case READ -> frame.lease() == lease.id() && frame.length() == Long.BYTES;
              case BYE -> frame.length() == 0;
              case HELLO, DATA, ACK, ERROR -> false;
            };
        if (!expected) {
          throw new RegionProtocolException(frame.kind() + " must not come now");
        }
        if (frame.kind() != Kind.BYE && frame.kind() != kind(lease.permission())) {
          refuse(Reason.DENIED);
        }
      }
      case Stage.Refused _ -> {}
    }
  }

  private static Kind kind(Permission permission) {
    return switch (permission) {
      case WRITE -> Kind.WRITE;
      case READ -> Kind.READ;
    };
  }

  private static void requireHello(RegionFrame frame, int step, int length)
      throws RegionProtocolException {
    if (frame.kind() != Kind.HELLO || frame.flags() != step || frame.length() != length) {
      throw new RegionProtocolException("the handshake is not kept");
    }
  }

  @Override
  public void payload(RegionFrame frame, ByteBuffer bytes, int done) {
    switch (stage) {
      case Stage.Serving(var lease) when frame.kind() == Kind.WRITE ->
          write(lease, frame, bytes, done);
      case Stage.Greeting _, Stage.Proving _, Stage.Serving _ ->
          bytes.get(small, done, bytes.remaining()); // within: begin() checked the length
      case Stage.Refused _ -> {}
    }
  }

  private void write(Leases.Lease lease, RegionFrame frame, ByteBuffer bytes, int done) {
    try {
      if (frame.offset() < 0 || frame.offset() > lease.byteSize() - frame.length()) {
        refuse(Reason.RANGE);
      } else if (!lease.write(frame.offset() + done, bytes)) {
        refuse(Reason.STALE);
      }
    } catch (IndexOutOfBoundsException outside) {
      refuse(Reason.RANGE);
    }
  }

  @Override
  public void end(RegionFrame frame) throws RegionProtocolException {
    switch (stage) {
      case Stage.Greeting _ -> answer(frame.lease());
      case Stage.Proving(var lease, var expected) -> {
        if (!Proofs.isSame(Arrays.copyOf(small, Proofs.PROOF_BYTES), expected)) {
          throw new RegionProtocolException("the proof is wrong");
        }
        stage = new Stage.Serving(lease);
      }
      case Stage.Serving(var lease) -> {
        switch (frame.kind()) {
          case BYE -> {
            var _ = channel().close();
          }
          case READ -> ask(lease, frame); // answered when all received bytes are processed
          case WRITE ->
              send(
                  RegionFrame.of(Kind.ACK, 0, frame.ticket(), lease.id())
                      .message(channel().alloc()));
          case HELLO, DATA, ACK, ERROR -> {} // refused by begin()
        }
      }
      case Stage.Refused _ -> {}
    }
  }

  private void answer(long id) {
    var lease = leases.find(id);
    if (lease == null) {
      refuse(Reason.STALE);
      return;
    }
    var theirs = Arrays.copyOf(small, Proofs.NONCE_BYTES);
    var ours = new byte[Proofs.NONCE_BYTES];
    RANDOM.nextBytes(ours);
    var payload = Arrays.copyOf(ours, Proofs.NONCE_BYTES + Proofs.PROOF_BYTES);
    var proof = Proofs.ofOwner(lease.secret(), id, theirs, ours);
    System.arraycopy(proof, 0, payload, Proofs.NONCE_BYTES, Proofs.PROOF_BYTES);
    stage = new Stage.Proving(lease, Proofs.ofCaller(lease.secret(), id, theirs, ours));
    send(RegionFrame.message(channel().alloc(), Kind.HELLO, 2, id, payload));
  }

  private void ask(Leases.Lease lease, RegionFrame frame) throws RegionProtocolException {
    long count = RegionFrame.count(small);
    boolean isWithin =
        count >= 0
            && count <= RegionCaller.PIECE_BYTES
            && frame.offset() >= 0
            && frame.offset() <= lease.byteSize() - count;
    if (!isWithin) {
      refuse(Reason.RANGE);
      return;
    }
    if (questions.size() >= RegionCaller.MOST_UNANSWERED) {
      throw new RegionProtocolException(
          "more than %d reads wait for their answers".formatted(RegionCaller.MOST_UNANSWERED));
    }
    questions.add(new Question(frame.ticket(), frame.offset(), (int) count));
  }

  /** Answers some reads, as far as the peer takes them and the budget has room. */
  private void answerReads() {
    if (pause != Pause.NONE) { // whatever ends it goes on from here
      return;
    }
    pause = Pause.ANSWERING;
    for (int pieces = 0; stage instanceof Stage.Serving(var lease) && isWritable(); pieces++) {
      var next = questions.peek();
      if (next == null) {
        break;
      }
      if (pieces == PIECES_OF_TURN) {
        pause = Pause.TURN;
        // A timer: tasks run before the loop looks at its sockets again.
        var _ = channel().executor().schedule(this::goOn, 0, TimeUnit.NANOSECONDS);
        return;
      }
      if (!budget.take(next.length, () -> granted(next))) {
        pause = Pause.BUDGET;
        return;
      }
      questions.remove();
      answerRead(lease, next);
    }
    pause = Pause.NONE;
  }

  private boolean isWritable() {
    return channel().channel().isWritable();
  }

  private void goOn() {
    pause = Pause.NONE;
    answerReads();
  }

  /** Called by any thread when the budget has room for a question that has waited. */
  private void granted(Question question) {
    try {
      channel().executor().execute(() -> answerGranted(question));
    } catch (RejectedExecutionException stopped) {
      budget.release(question.length);
    }
  }

  private void answerGranted(Question question) {
    boolean isOpen = channel().channel().isActive();
    if (isOpen && stage instanceof Stage.Serving(var lease) && question.equals(questions.peek())) {
      questions.remove();
      answerRead(lease, question);
    } else {
      budget.release(question.length);
    }
    goOn();
  }

  /** Answers a question that has its part of the budget. */
  private void answerRead(Leases.Lease lease, Question question) {
    ByteBuf piece = null;
    try {
      piece =
          RegionFrame.messageIf(
              channel().alloc(),
              new RegionFrame.Label(Kind.DATA, question.ticket, lease.id(), question.offset),
              question.length,
              room -> lease.read(question.offset, room));
      if (piece == null) {
        refuse(Reason.STALE);
      }
    } catch (IndexOutOfBoundsException outside) {
      refuse(Reason.RANGE);
    } catch (RuntimeException | OutOfMemoryError failure) { // also of direct memory
      exceptionCaught(channel(), failure);
    } finally {
      if (piece == null) {
        budget.release(question.length);
      }
    }
    if (piece != null) {
      // Flushed at once: encryption hides from isWritable() what waits for a flush.
      var _ = channel().writeAndFlush(piece).addListener(sent -> sent(question, sent.isSuccess()));
    }
  }

  private void sent(Question question, boolean isTaken) {
    heard |= isTaken;
    budget.release(question.length);
  }

  /** Pauses reading while the peer does not take its answers. */
  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    ctx.channel().config().setAutoRead(ctx.channel().isWritable());
    answerReads();
    ctx.fireChannelWritabilityChanged();
  }

  /** Writes without a flush, which follows once all received bytes are processed. */
  private void send(ByteBuf message) {
    var _ = channel().write(message, channel().voidPromise());
    flush = true;
  }

  private void refuse(Reason reason) {
    boolean known = stage instanceof Stage.Serving;
    stage = new Stage.Refused();
    questions.clear();
    var error = RegionFrame.of(Kind.ERROR, reason.code(), 0, 0);
    var sent = channel().writeAndFlush(error.message(channel().alloc()));
    if (!known) {
      sent.addListener(ChannelFutureListener.CLOSE);
    } // else a close over bytes that still come would reset the connection before it is read
  }

  private ChannelHandlerContext channel() {
    return Objects.requireNonNull(channel, "not before the channel is active");
  }
}
