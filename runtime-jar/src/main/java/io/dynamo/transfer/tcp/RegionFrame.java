package io.dynamo.transfer.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The header of a message between the owner of a region and a peer that writes or reads it,
 * little-endian; {@code length} bytes of payload follow it.
 *
 * <pre>
 *  0       4     5      6       8        16      24       32       36            40      44
 *  | magic | ver | kind | flags | ticket | lease | offset | length | payload crc | spare | crc |
 * </pre>
 *
 * Checksums are CRC-32C; the last one is of the 44 bytes before it.
 *
 * @param flags the step of a {@link Kind#HELLO}, the reason of an {@link Kind#ERROR}
 * @param ticket names a {@link Kind#WRITE} or {@link Kind#READ}, and the {@link Kind#ACK} or {@link
 *     Kind#DATA} that answers it
 */
record RegionFrame(
    Kind kind, int flags, long ticket, long lease, long offset, int length, int payloadCrc) {
  /** The purpose of a message; the numbers are those of the wire. */
  enum Kind {
    /** The three steps of the handshake: nonce; nonce and proof; proof. */
    HELLO(1),
    /** Bytes for the region. */
    WRITE(2),
    /** Asks for bytes of the region, whose number is the payload: u64, little-endian. */
    READ(3),
    /** The bytes of a read. */
    DATA(4),
    /** The bytes of a write are in place. */
    ACK(5),
    /** The peer gives up, with the reason. */
    ERROR(7),
    /** The peer wants nothing more of the owner. */
    BYE(9);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    static @Nullable Kind of(int code) {
      for (var kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      return null;
    }
  }

  static final int HEADER_BYTES = 48;
  static final int MAX_PAYLOAD = 1 << 20;

  private static final int MAGIC = 0x31564b44; // "DKV1"
  private static final int VERSION = 1;
  private static final int CHECKED_BYTES = 44;

  /** Returns a header for a message without payload. */
  static RegionFrame of(Kind kind, int flags, long ticket, long lease) {
    return new RegionFrame(kind, flags, ticket, lease, 0, 0, 0);
  }

  /**
   * Removes a header from {@code in}, which has one.
   *
   * @throws RegionProtocolException when it is no header of this protocol, or exceeds its bounds
   */
  static RegionFrame read(ByteBuf in) throws RegionProtocolException {
    int at = in.readerIndex();
    var crc = new CRC32C();
    crc.update(in.nioBuffer(at, CHECKED_BYTES));
    if (in.getIntLE(at) != MAGIC || (int) crc.getValue() != in.getIntLE(at + CHECKED_BYTES)) {
      throw new RegionProtocolException("a header is damaged, or of another protocol");
    }
    if (in.getByte(at + 4) != VERSION) {
      throw new RegionProtocolException(
          "version %d of the protocol is not %d".formatted(in.getByte(at + 4), VERSION));
    }
    var kind = Kind.of(in.getByte(at + 5));
    int length = in.getIntLE(at + 32);
    if (kind == null || length < 0 || length > MAX_PAYLOAD) {
      throw new RegionProtocolException(
          "message %d with %d bytes is none of this protocol, or exceeds its %d bytes"
              .formatted(in.getByte(at + 5), length, MAX_PAYLOAD));
    }
    in.skipBytes(HEADER_BYTES);
    return new RegionFrame(
        kind,
        in.getUnsignedShortLE(at + 6),
        in.getLongLE(at + 8),
        in.getLongLE(at + 16),
        in.getLongLE(at + 24),
        length,
        in.getIntLE(at + 36));
  }

  /** Appends this header to {@code out}. */
  void write(ByteBuf out) {
    int at = out.writerIndex();
    out.writeIntLE(MAGIC).writeByte(VERSION).writeByte(kind.code).writeShortLE(flags);
    out.writeLongLE(ticket).writeLongLE(lease).writeLongLE(offset);
    out.writeIntLE(length).writeIntLE(payloadCrc).writeIntLE(0);
    var crc = new CRC32C();
    crc.update(out.nioBuffer(at, CHECKED_BYTES));
    out.writeIntLE((int) crc.getValue());
  }

  /** Returns this header as a message. */
  ByteBuf message(ByteBufAllocator allocator) {
    var out = allocator.buffer(HEADER_BYTES, HEADER_BYTES);
    write(out);
    return out;
  }

  /** The fields of a header that its payload does not decide. */
  record Label(Kind kind, long ticket, long lease, long offset) {}

  /** Brings the bytes of a payload: fills {@code room}. */
  interface Payload {
    void fill(ByteBuffer room);
  }

  /** Returns a message whose payload is written in place; what it throws is passed on. */
  static ByteBuf message(ByteBufAllocator allocator, Label label, int length, Payload payload) {
    return Objects.requireNonNull(
        messageIf(
            allocator,
            label,
            length,
            room -> {
              payload.fill(room);
              return true;
            }));
  }

  /**
   * Returns a message whose payload is written in place, or null when {@code fill} says that there
   * is none; what it throws is passed on.
   */
  static @Nullable ByteBuf messageIf(
      ByteBufAllocator allocator, Label label, int length, Predicate<ByteBuffer> fill) {
    var out = allocator.directBuffer(HEADER_BYTES + length, HEADER_BYTES + length);
    try {
      if (!fill.test(out.nioBuffer(HEADER_BYTES, length))) {
        out.release();
        return null;
      }
      var crc = new CRC32C();
      crc.update(out.nioBuffer(HEADER_BYTES, length));
      new RegionFrame(
              label.kind, 0, label.ticket, label.lease, label.offset, length, (int) crc.getValue())
          .write(out);
      return out.writerIndex(HEADER_BYTES + length);
    } catch (RuntimeException failure) {
      out.release();
      throw failure;
    }
  }

  /** Writes the payload of a {@link Kind#READ}. */
  static void putCount(ByteBuffer room, long count) {
    room.order(ByteOrder.LITTLE_ENDIAN).putLong(count);
  }

  /** Returns the number in the payload of a {@link Kind#READ}; not negative for honest peers. */
  static long count(byte[] payload) {
    return ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }

  /** Returns a message with a small payload. */
  static ByteBuf message(
      ByteBufAllocator allocator, Kind kind, int flags, long lease, byte[] payload) {
    var crc = new CRC32C();
    crc.update(payload);
    var out = allocator.buffer(HEADER_BYTES + payload.length);
    new RegionFrame(kind, flags, 0, lease, 0, payload.length, (int) crc.getValue()).write(out);
    return out.writeBytes(payload);
  }
}
