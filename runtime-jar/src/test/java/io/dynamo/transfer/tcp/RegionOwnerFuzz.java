package io.dynamo.transfer.tcp;

import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.tcp.RegionFrame.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Fuzz target: any bytes from a peer that writes into a region, or reads it. The first byte of the
 * input chooses the size of the pieces, whether the peer performs a correct handshake first, and
 * whether the rest is sent as it is or as the payloads of messages with correct checksums. Bytes
 * are taken, or the connection is refused; no exception escapes the handler, a peer without a proof
 * neither writes nor reads, and one with it does only what its lease permits.
 */
public final class RegionOwnerFuzz {
  private static final int HANDSHAKE = 1;
  private static final int FRAMES = 2;
  private static final int REGION_BYTES = 200;
  private static final int FIELDS = 6; // bytes of the input that describe a message

  private RegionOwnerFuzz() {}

  /** Called by the fuzzer and by the replay of the corpus. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    for (var permission : Permission.values()) {
      talk(input, permission);
    }
  }

  private static void talk(byte[] input, Permission permission) {
    int choice = input[0];
    boolean proves = (choice & HANDSHAKE) != 0;
    try (var memory = new JavaHostMemory()) {
      var region = memory.allocate(REGION_BYTES);
      region.write(0, ByteBuffer.wrap(content()));
      var leases = new Leases(() -> 0);
      var lease = leases.lend(region, permission, Duration.ofMinutes(1));
      var channel =
          new EmbeddedChannel(
              new RegionOwner(leases, new AnswerBudget(REGION_BYTES), Duration.ofSeconds(10)));
      try {
        if (proves) {
          prove(channel, lease);
        }
        var rest = Arrays.copyOfRange(input, 1, input.length);
        byte[] bytes = (choice & FRAMES) != 0 ? messages(rest, lease.id()) : rest;
        int piece = 1 + ((choice >> 2) & 63);
        for (int at = 0; at < bytes.length; at += piece) {
          write(channel, Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + piece)));
        }
        channel.checkException();
        checkAnswers(channel, proves && permission == Permission.READ);
      } finally {
        channel.finishAndReleaseAll();
      }
      if (!proves || permission == Permission.READ) {
        requireUntouched(region);
      }
    }
  }

  private static byte[] content() {
    var bytes = new byte[REGION_BYTES];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i ^ 0x35);
    }
    return bytes;
  }

  private static void requireUntouched(Region region) {
    var bytes = ByteBuffer.allocate(REGION_BYTES);
    region.read(0, bytes);
    if (!Arrays.equals(bytes.array(), content())) {
      throw new AssertionError("a peer without the right has written into the region");
    }
  }

  private static void checkAnswers(EmbeddedChannel channel, boolean mayRead) {
    for (ByteBuf answer = channel.readOutbound(); answer != null; answer = channel.readOutbound()) {
      try {
        var frame = RegionFrame.read(answer);
        int from = (int) frame.offset();
        boolean isRight =
            frame.kind() != Kind.DATA
                || (mayRead
                    && Arrays.equals(
                        bytes(answer.retainedSlice()),
                        Arrays.copyOfRange(content(), from, from + frame.length())));
        if (!isRight) {
          throw new AssertionError("a peer has got bytes that are not its own: " + frame);
        }
      } catch (RegionProtocolException damaged) {
        throw new AssertionError(damaged);
      } finally {
        answer.release();
      }
    }
  }

  /** Performs the handshake of a peer. */
  static void prove(EmbeddedChannel channel, Leases.Lease lease) {
    var nonce = new byte[Proofs.NONCE_BYTES];
    write(channel, hello(1, lease.id(), nonce));
    ByteBuf answer = channel.readOutbound();
    var theirs = new byte[Proofs.NONCE_BYTES];
    answer.getBytes(RegionFrame.HEADER_BYTES, theirs);
    answer.release();
    write(
        channel, hello(3, lease.id(), Proofs.ofCaller(lease.secret(), lease.id(), nonce, theirs)));
  }

  private static byte[] hello(int step, long lease, byte[] payload) {
    return bytes(
        RegionFrame.message(UnpooledByteBufAllocator.DEFAULT, Kind.HELLO, step, lease, payload));
  }

  /** Returns the input cut into messages, whose fields it also chooses. */
  private static byte[] messages(byte[] input, long lease) {
    var out = Unpooled.buffer();
    int at = 0;
    while (input.length - at >= FIELDS) {
      var kinds = Kind.values();
      var kind = kinds[Math.floorMod(input[at], kinds.length)];
      int flags = input[at + 1] & 3;
      long to = (input[at + 2] & 15) == 0 ? lease + 1 : lease;
      long offset = (long) input[at + 3] << (input[at + 4] & 31);
      int length = Math.min(input[at + 5] & 0xff, input.length - at - FIELDS);
      var crc = new CRC32C();
      crc.update(input, at + FIELDS, length);
      new RegionFrame(kind, flags, at, to, offset, length, (int) crc.getValue()).write(out);
      out.writeBytes(input, at + FIELDS, length);
      at += FIELDS + length;
    }
    return bytes(out);
  }

  static byte[] bytes(ByteBuf from) {
    var bytes = new byte[from.readableBytes()];
    from.readBytes(bytes);
    from.release();
    return bytes;
  }

  static void write(EmbeddedChannel channel, byte[] bytes) {
    if (channel.isOpen()) {
      channel.writeInbound(Unpooled.wrappedBuffer(bytes));
    }
  }
}
