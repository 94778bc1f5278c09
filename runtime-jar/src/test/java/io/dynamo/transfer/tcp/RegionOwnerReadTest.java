package io.dynamo.transfer.tcp;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.tcp.RegionFrame.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the answers of an owner to peers that read its region, honest and hostile ones. */
class RegionOwnerReadTest {
  private static final Duration SILENCE = Duration.ofSeconds(10);
  private static final int SIZE = 3 * RegionCaller.PIECE_BYTES;

  private final AtomicLong clock = new AtomicLong();
  private final JavaHostMemory memory = new JavaHostMemory();
  private final Leases leases = new Leases(clock::get);
  private final Region region = memory.allocate(SIZE);
  private final byte[] data = new byte[SIZE];
  private final AnswerBudget budget = new AnswerBudget(8 * RegionCaller.PIECE_BYTES);
  private final EmbeddedChannel peer =
      new EmbeddedChannel(new RegionOwner(leases, budget, SILENCE));
  private Leases.Lease lease = leases.lend(region, Permission.READ, Duration.ofMinutes(1));

  RegionOwnerReadTest() {
    new Random(4).nextBytes(data);
    region.write(0, ByteBuffer.wrap(data));
  }

  @AfterEach
  void close() {
    peer.finishAndReleaseAll();
    memory.close();
  }

  private static byte[] count(long bytes) {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(bytes).array();
  }

  private void send(Kind kind, long ticket, long offset, byte[] payload) {
    var message =
        RegionFrame.message(
            UnpooledByteBufAllocator.DEFAULT,
            new RegionFrame.Label(kind, ticket, lease.id(), offset),
            payload.length,
            room -> room.put(payload));
    RegionOwnerFuzz.write(peer, RegionOwnerFuzz.bytes(message));
  }

  private void ask(long ticket, long offset, long bytes) {
    send(Kind.READ, ticket, offset, count(bytes));
  }

  /** One message of the owner. */
  private record Answer(RegionFrame frame, byte[] payload) {}

  private @Nullable Answer poll() throws RegionProtocolException {
    ByteBuf message = peer.readOutbound();
    if (message == null) {
      return null;
    }
    var frame = RegionFrame.read(message);
    return new Answer(frame, RegionOwnerFuzz.bytes(message));
  }

  private Answer answer() throws RegionProtocolException {
    return requireNonNull(poll(), "no answer");
  }

  private void isData(Answer answer, long ticket, int offset, int length) {
    assertThat(answer.frame.kind()).isEqualTo(Kind.DATA);
    assertThat(answer.frame.ticket()).isEqualTo(ticket);
    assertThat(answer.frame.offset()).isEqualTo(offset);
    assertThat(answer.payload).isEqualTo(Arrays.copyOfRange(data, offset, offset + length));
  }

  private void isRefused(Reason reason) throws RegionProtocolException {
    var answer = answer();
    assertThat(answer.frame.kind()).isEqualTo(Kind.ERROR);
    assertThat(Reason.of(answer.frame.flags())).isEqualTo(reason);
    assertThat(answer.payload).isEmpty();
    ask(99, 0, 1); // whatever follows has no answer
    assertThat(poll()).isNull();
  }

  private void setWritable(boolean isWritable) {
    requireNonNull(peer.unsafe().outboundBuffer()).setUserDefinedWritability(1, isWritable);
    peer.runPendingTasks();
  }

  @Test
  void answersHaveTheBytesOfTheirQuestions() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    ask(1, 0, RegionCaller.PIECE_BYTES);
    ask(7, SIZE - 5, 5);
    ask(8, SIZE, 0);
    isData(answer(), 1, 0, RegionCaller.PIECE_BYTES);
    isData(answer(), 7, SIZE - 5, 5);
    isData(answer(), 8, SIZE, 0);
    assertThat(poll()).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "0, -1",
    "0, 262145",
    "0, 9223372036854775807",
    "-1, 1",
    "786432, 1",
    "786431, 2",
    "9223372036854775807, 1",
    "-9223372036854775808, 0"
  })
  void rangesOutsideAreRefused(long offset, long bytes) throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    ask(1, offset, bytes);
    isRefused(Reason.RANGE);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 7, 9, 32, 33, 4096})
  void questionsOfAnotherLengthAreRefused(int length) throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    send(Kind.READ, 1, 0, new byte[length]);
    isRefused(Reason.CORRUPT);
  }

  @Test
  void aDamagedQuestionIsRefused() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    var message =
        RegionFrame.message(UnpooledByteBufAllocator.DEFAULT, Kind.READ, 0, lease.id(), count(1));
    var bytes = RegionOwnerFuzz.bytes(message);
    bytes[RegionFrame.HEADER_BYTES] ^= 2;
    RegionOwnerFuzz.write(peer, bytes);
    isRefused(Reason.CORRUPT);
  }

  @Test
  void aLeaseForReadsIsNotWritten() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    send(Kind.WRITE, 1, 0, new byte[100]);
    isRefused(Reason.DENIED);
    var bytes = ByteBuffer.allocate(SIZE);
    region.read(0, bytes);
    assertThat(bytes.array()).isEqualTo(data);
  }

  @Test
  void aLeaseForWritesIsNotRead() throws Exception {
    lease = leases.lend(region, Permission.WRITE, Duration.ofMinutes(1));
    RegionOwnerFuzz.prove(peer, lease);
    ask(1, 0, 1);
    isRefused(Reason.DENIED);
  }

  /** The proof holds for one lease: the other one of the same region is not reached by it. */
  @Test
  void aQuestionForAnotherLeaseIsRefused() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    lease = leases.lend(region, Permission.READ, Duration.ofMinutes(1));
    ask(1, 0, 1);
    isRefused(Reason.CORRUPT);
  }

  @Test
  void nothingIsReadBeforeTheProof() throws Exception {
    ask(1, 0, 1);
    assertThat(answer().frame.kind()).isEqualTo(Kind.ERROR);
    assertThat(peer.isOpen()).isFalse();
  }

  @Test
  void aProofThatWasRecordedOpensNoOtherConnection() throws Exception {
    var nonce = new byte[Proofs.NONCE_BYTES];
    var allocator = UnpooledByteBufAllocator.DEFAULT;
    var first = RegionFrame.message(allocator, Kind.HELLO, 1, lease.id(), nonce);
    var greeting = RegionOwnerFuzz.bytes(first);
    RegionOwnerFuzz.write(peer, greeting);
    var theirs = Arrays.copyOf(answer().payload, Proofs.NONCE_BYTES);
    var proof = Proofs.ofCaller(lease.secret(), lease.id(), nonce, theirs);
    var proving =
        RegionOwnerFuzz.bytes(RegionFrame.message(allocator, Kind.HELLO, 3, lease.id(), proof));
    RegionOwnerFuzz.write(peer, proving);
    ask(1, 0, 1);
    isData(answer(), 1, 0, 1);

    var replayed = new EmbeddedChannel(new RegionOwner(leases, budget, SILENCE));
    try {
      RegionOwnerFuzz.write(replayed, greeting);
      ByteBuf other = replayed.readOutbound();
      other.release();
      RegionOwnerFuzz.write(replayed, proving);
      ByteBuf refusal = replayed.readOutbound();
      var frame = RegionFrame.read(refusal);
      refusal.release();
      assertThat(frame.kind()).isEqualTo(Kind.ERROR);
      assertThat(replayed.isOpen()).isFalse();
    } finally {
      replayed.finishAndReleaseAll();
    }
  }

  /** The owner copies no bytes for a peer that has not taken those before. */
  @Test
  void answersWaitForASlowPeer() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    setWritable(false);
    assertThat(peer.config().isAutoRead()).as("reads on").isFalse();
    for (int i = 1; i <= RegionCaller.MOST_UNANSWERED; i++) {
      ask(i, 0, RegionCaller.PIECE_BYTES);
    }
    assertThat(poll()).isNull();
    setWritable(true);
    assertThat(peer.config().isAutoRead()).as("reads on").isTrue();
    for (int i = 1; i <= RegionCaller.MOST_UNANSWERED; i++) {
      isData(answer(), i, 0, RegionCaller.PIECE_BYTES);
      peer.runPendingTasks();
    }
  }

  private static byte[] question(Leases.Lease lease, long ticket) {
    return RegionOwnerFuzz.bytes(
        RegionFrame.message(
            UnpooledByteBufAllocator.DEFAULT,
            new RegionFrame.Label(Kind.READ, ticket, lease.id(), 0),
            Long.BYTES,
            room -> RegionFrame.putCount(room, RegionCaller.PIECE_BYTES)));
  }

  /** However many questions come at once: other connections have their turn in between. */
  @Test
  void fewAnswersTakeTheEventLoopAtOnce() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    var questions = Unpooled.buffer();
    for (int i = 1; i <= RegionCaller.MOST_UNANSWERED; i++) {
      questions.writeBytes(question(lease, i));
    }
    var owner = peer.pipeline().get(RegionOwner.class);
    var context = peer.pipeline().context(owner);
    owner.channelRead(context, questions);
    owner.channelReadComplete(context);
    owner.channelReadComplete(context);
    owner.channelWritabilityChanged(context);
    assertThat(peer.outboundMessages()).hasSize(4);
    for (int i = 1; i <= RegionCaller.MOST_UNANSWERED; i++) {
      isData(answer(), i, 0, RegionCaller.PIECE_BYTES);
      if (peer.outboundMessages().isEmpty()) {
        peer.runPendingTasks();
        assertThat(peer.outboundMessages()).hasSizeLessThanOrEqualTo(4);
      }
    }
    assertThat(poll()).isNull();
  }

  /** Keeps the answers of a connection where they are, as a peer that takes nothing does. */
  private static final class HeldWrites extends ChannelOutboundHandlerAdapter {
    private final Queue<ChannelPromise> sent = new ArrayDeque<>();

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      ReferenceCountUtil.release(message);
      sent.add(promise);
    }
  }

  /** Asks for as many pieces as the peer may, and leaves the answers where they are. */
  private HeldWrites askAndTakeNothing() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    var held = new HeldWrites();
    peer.pipeline().addFirst(held);
    for (int i = 1; i <= RegionCaller.MOST_UNANSWERED; i++) {
      ask(i, 0, RegionCaller.PIECE_BYTES);
      peer.runPendingTasks();
    }
    return held;
  }

  /** The memory of answers is bounded for all connections: who comes later waits its turn. */
  @Test
  void answersWaitForThoseOfOtherConnections() throws Exception {
    var held = askAndTakeNothing();
    assertThat(held.sent).hasSize(8);
    var other = new EmbeddedChannel(new RegionOwner(leases, budget, SILENCE));
    try {
      RegionOwnerFuzz.prove(other, lease);
      RegionOwnerFuzz.write(other, question(lease, 1));
      assertThat(other.outboundMessages()).isEmpty();
      held.sent.remove().setSuccess(); // the first in the line is the next of the same connection
      peer.runPendingTasks();
      assertThat(held.sent).hasSize(8);
      assertThat(other.outboundMessages()).isEmpty();
      held.sent.remove().setFailure(new IOException("the peer hung up"));
      peer.runPendingTasks();
      other.runPendingTasks();
      assertThat(held.sent).hasSize(7);
      assertThat(other.outboundMessages()).hasSize(1);
    } finally {
      other.finishAndReleaseAll();
    }
  }

  /** A connection that ends in the line, or with answers in hand, leaves its part to the next. */
  @Test
  void theBudgetComesBackFromConnectionsThatEnd() throws Exception {
    var held = askAndTakeNothing();
    var _ = peer.close();
    held.sent.forEach(promise -> promise.setFailure(new IOException("the peer hung up")));
    peer.runPendingTasks();
    assertThat(budget.take(8 * RegionCaller.PIECE_BYTES, () -> {})).isTrue();
  }

  @Test
  void refusedReadsLeaveTheBudget() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    region.close();
    ask(1, 0, RegionCaller.PIECE_BYTES);
    isRefused(Reason.STALE);
    assertThat(budget.take(8 * RegionCaller.PIECE_BYTES, () -> {})).isTrue();
  }

  /** Answers that it does not take would keep their memory. */
  @Test
  void theEndOfTheLeaseClosesAPeerThatTakesNothing() {
    peer.freezeTime();
    RegionOwnerFuzz.prove(peer, lease);
    setWritable(false);
    lease.end();
    pass();
    assertThat(peer.isOpen()).isFalse();
  }

  @Test
  void moreQuestionsThanAgreedAreRefused() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    setWritable(false);
    for (int i = 0; i <= RegionCaller.MOST_UNANSWERED; i++) {
      assertThat(poll()).isNull();
      ask(i, 0, 1);
    }
    isRefused(Reason.CORRUPT);
    setWritable(true);
    assertThat(poll()).isNull();
  }

  /** Questions that wait at the end of the lease are answered with no byte of the next use. */
  @Test
  void theEndOfTheLeaseEndsWhatWaits() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    setWritable(false);
    ask(1, 0, 100);
    ask(2, 100, 100);
    lease.end();
    region.write(0, ByteBuffer.wrap(new byte[SIZE]));
    setWritable(true);
    isRefused(Reason.STALE);
  }

  @Test
  void aLeaseIsOverByItsTime() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    clock.set(Duration.ofMinutes(1).toNanos());
    ask(1, 0, 1);
    isRefused(Reason.STALE);
  }

  @Test
  void aRegionThatWasClosedIsStale() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    region.close();
    ask(1, 0, 1);
    isRefused(Reason.STALE);
  }

  /** A peer that takes pieces is heard, though it has nothing to ask meanwhile. */
  @Test
  void aPeerThatTakesNothingIsClosed() {
    peer.freezeTime();
    RegionOwnerFuzz.prove(peer, lease);
    pass();
    assertThat(peer.isOpen()).isTrue();
    setWritable(false);
    ask(1, 0, 1);
    pass();
    assertThat(peer.isOpen()).isTrue();
    setWritable(true); // it takes the piece
    setWritable(false);
    pass();
    assertThat(peer.isOpen()).as("has taken a piece").isTrue();
    pass();
    assertThat(peer.isOpen()).as("takes nothing").isFalse();
  }

  private void pass() {
    clock.addAndGet(1);
    peer.advanceTimeBy(SILENCE.toNanos(), TimeUnit.NANOSECONDS);
    peer.runScheduledPendingTasks();
    peer.runPendingTasks();
  }
}
