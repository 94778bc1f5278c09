package io.dynamo.transfer.tcp;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionExchange.Range;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.tcp.RegionCaller.Order;
import io.dynamo.transfer.tcp.RegionFrame.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests what a reader takes from an owner that does not keep the protocol. */
class RegionReaderTest {
  private static final int PIECE = RegionCaller.PIECE_BYTES;
  private static final int READ = PIECE + 100; // two pieces
  private static final int FROM = 30;
  private static final int TO = 50;
  private static final long LEASE = 5;

  private final JavaHostMemory memory = new JavaHostMemory();
  private final Region target = memory.allocate(READ + 2 * TO);
  private final byte[] secret = new byte[RegionAddress.SECRET_BYTES];
  private final byte[] data = new byte[FROM + READ];
  private final Transfer transfer = new Transfer(() -> {});
  private final EmbeddedChannel owner;

  RegionReaderTest() {
    new Random(9).nextBytes(data);
    var from = new RegionAddress("127.0.0.1", 1, LEASE, secret, data.length, Permission.READ);
    var order = new Order(target, new Range(FROM, TO, READ), from);
    owner = new EmbeddedChannel(new RegionReader(order, transfer));
  }

  @AfterEach
  void close() {
    owner.finishAndReleaseAll();
    memory.close();
  }

  private static byte[] message(Kind kind, long ticket, long offset, byte[] payload) {
    return RegionOwnerFuzz.bytes(
        RegionFrame.message(
            UnpooledByteBufAllocator.DEFAULT,
            new RegionFrame.Label(kind, ticket, LEASE, offset),
            payload.length,
            room -> room.put(payload)));
  }

  private RegionFrame next() throws RegionProtocolException {
    ByteBuf message = requireNonNull(owner.<ByteBuf>readOutbound(), "nothing was asked");
    try {
      return RegionFrame.read(message);
    } finally {
      message.release();
    }
  }

  /** Proves that this owner knows the secret, and takes the two questions. */
  private void greet() throws RegionProtocolException {
    ByteBuf hello = requireNonNull(owner.<ByteBuf>readOutbound());
    var nonce = new byte[Proofs.NONCE_BYTES];
    hello.getBytes(RegionFrame.HEADER_BYTES, nonce);
    hello.release();
    var answer = new byte[Proofs.NONCE_BYTES + Proofs.PROOF_BYTES];
    var ours = Arrays.copyOf(answer, Proofs.NONCE_BYTES);
    var proof = Proofs.ofOwner(secret, LEASE, nonce, ours);
    System.arraycopy(proof, 0, answer, Proofs.NONCE_BYTES, proof.length);
    var greeting =
        RegionFrame.message(UnpooledByteBufAllocator.DEFAULT, Kind.HELLO, 2, LEASE, answer);
    RegionOwnerFuzz.write(owner, RegionOwnerFuzz.bytes(greeting));
    assertThat(next().kind()).isEqualTo(Kind.HELLO);
    for (int ticket = 1; ticket <= 2; ticket++) {
      var question = next();
      assertThat(question.kind()).isEqualTo(Kind.READ);
      assertThat(question.ticket()).isEqualTo(ticket);
      assertThat(question.offset()).isEqualTo(FROM + (ticket - 1) * PIECE);
    }
    assertThat(owner.outboundMessages()).isEmpty();
  }

  private byte[] piece(int from, int length) {
    return Arrays.copyOfRange(data, from, from + length);
  }

  private byte[] target() {
    var bytes = ByteBuffer.allocate((int) target.byteSize());
    target.read(0, bytes);
    return bytes.array();
  }

  private void fails(Reason reason) {
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> transfer.await(Deadline.after(Duration.ZERO)))
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(reason));
    assertThat(owner.isOpen()).isFalse();
  }

  @Test
  void bytesThatComeInAnyPiecesAreInPlace() throws Exception {
    greet();
    var first = message(Kind.DATA, 1, FROM, piece(FROM, PIECE));
    for (int at = 0; at < first.length; at += 1000) {
      RegionOwnerFuzz.write(
          owner, Arrays.copyOfRange(first, at, Math.min(first.length, at + 1000)));
    }
    RegionOwnerFuzz.write(owner, message(Kind.DATA, 2, FROM + PIECE, piece(FROM + PIECE, 100)));
    assertThat(transfer.await(Deadline.after(Duration.ZERO))).isEqualTo(READ);
    var expected = new byte[(int) target.byteSize()];
    System.arraycopy(data, FROM, expected, TO, READ);
    assertThat(target()).isEqualTo(expected);
    assertThat(next().kind()).isEqualTo(Kind.BYE);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 30, 262144", // the second piece first
    "0, 30, 262144",
    "1, 31, 262144", // of another place
    "1, 0, 262144",
    "1, -1, 262144",
    "1, 30, 262143", // of another size
    "1, 30, 262145",
    "1, 30, 1048576",
    "1, 30, 0"
  })
  void piecesThatWereNotAskedForChangeNothing(long ticket, long offset, int length)
      throws Exception {
    greet();
    RegionOwnerFuzz.write(owner, message(Kind.DATA, ticket, offset, filled(length)));
    fails(Reason.CORRUPT);
    assertThat(target()).containsOnly(0);
  }

  @Test
  void morePiecesThanAskedChangeNothing() throws Exception {
    greet();
    RegionOwnerFuzz.write(owner, message(Kind.DATA, 1, FROM, piece(FROM, PIECE)));
    var last = message(Kind.DATA, 2, FROM + PIECE, piece(FROM + PIECE, 100));
    var more = message(Kind.DATA, 3, FROM + READ, filled(TO)); // there is room for it
    RegionOwnerFuzz.write(
        owner, ByteBuffer.allocate(last.length + more.length).put(last).put(more).array());
    var expected = new byte[(int) target.byteSize()];
    System.arraycopy(data, FROM, expected, TO, READ);
    assertThat(target()).isEqualTo(expected);
    assertThat(transfer.await(Deadline.after(Duration.ZERO))).isEqualTo(READ);
  }

  @Test
  void aFlippedBitFailsTheRead() throws Exception {
    greet();
    var flipped = message(Kind.DATA, 1, FROM, piece(FROM, PIECE));
    flipped[RegionFrame.HEADER_BYTES + 1234] ^= 8;
    RegionOwnerFuzz.write(owner, flipped);
    fails(Reason.CORRUPT);
  }

  /** An owner without the secret changes nothing in the target. */
  @Test
  void bytesBeforeTheProofChangeNothing() {
    RegionOwnerFuzz.write(owner, message(Kind.DATA, 1, FROM, filled(PIECE)));
    fails(Reason.CORRUPT);
    assertThat(target()).containsOnly(0);
  }

  @ParameterizedTest
  @EnumSource(names = {"ACK", "WRITE", "READ", "BYE", "HELLO"})
  void otherMessagesFailTheRead(Kind kind) throws Exception {
    greet();
    RegionOwnerFuzz.write(owner, message(kind, 1, FROM, new byte[0]));
    fails(Reason.CORRUPT);
    assertThat(target()).containsOnly(0);
  }

  @Test
  void theRestOfAPieceIsDroppedOnceTheReadHasEnded() throws Exception {
    greet();
    var first = message(Kind.DATA, 1, FROM, filled(PIECE));
    RegionOwnerFuzz.write(owner, Arrays.copyOf(first, 1000));
    var error = RegionFrame.of(Kind.ERROR, Reason.STALE.code(), 0, 0);
    var _ = owner.close(); // as a cancellation does
    var before = target();
    owner
        .pipeline()
        .fireChannelRead(Unpooled.wrappedBuffer(Arrays.copyOfRange(first, 1000, first.length)));
    owner.pipeline().fireChannelRead(error.message(UnpooledByteBufAllocator.DEFAULT));
    assertThat(target()).isEqualTo(before);
  }

  @Test
  void anErrorOfTheOwnerIsItsReason() throws Exception {
    greet();
    var error = RegionFrame.of(Kind.ERROR, Reason.STALE.code(), 0, 0);
    RegionOwnerFuzz.write(
        owner, RegionOwnerFuzz.bytes(error.message(UnpooledByteBufAllocator.DEFAULT)));
    fails(Reason.STALE);
  }

  private static byte[] filled(int length) {
    var bytes = new byte[length];
    Arrays.fill(bytes, (byte) 0x77);
    return bytes;
  }
}
