package io.dynamo.pipeline.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/**
 * The bytes that ZMTP writes, after <a href="https://rfc.zeromq.org/spec/23/">ZMTP 3.0</a>.
 *
 * <pre>
 * greeting | ff | 8 bytes | 7f | version 3, 0 | mechanism, 20 bytes | as-server | 31 bytes |
 * frame    | flags: more 1, long 2, command 4 | length, 1 byte or 8 | body |
 * command  | length of its name, 1 byte | name | data |
 * </pre>
 */
final class ZmtpBytes {
  static final int GREETING_BYTES = 64;
  static final int SIGNATURE_END = 9; // index of its last byte
  static final int VERSION_AT = 10;
  static final int MECHANISM_AT = 12;
  static final int MECHANISM_BYTES = 20;
  static final byte[] MECHANISM = ascii("NULL");

  static final int MORE = 1;
  static final int LONG = 2;
  static final int COMMAND = 4;
  static final int SHORT_HEADER_BYTES = 2;
  static final int LONG_HEADER_BYTES = 9;

  static final byte SUBSCRIBE = 1;
  static final byte UNSUBSCRIBE = 0;

  private static final int MAX_SHORT_BYTES = 255;
  private static final byte MAJOR = 3;

  private ZmtpBytes() {}

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  static ByteBuf greeting() {
    var bytes = new byte[GREETING_BYTES];
    bytes[0] = (byte) 0xff;
    bytes[SIGNATURE_END] = 0x7f;
    bytes[VERSION_AT] = MAJOR;
    System.arraycopy(MECHANISM, 0, bytes, MECHANISM_AT, MECHANISM.length);
    return Unpooled.wrappedBuffer(bytes);
  }

  /** Returns the command that ends the handshake. */
  static ByteBuf ready(String socketType) {
    var property = ascii("Socket-Type");
    var value = ascii(socketType);
    var data =
        Unpooled.buffer()
            .writeByte(property.length)
            .writeBytes(property)
            .writeInt(value.length)
            .writeBytes(value);
    return command("READY", data);
  }

  /**
   * Returns a command that requests a sign of life, and lets the peer close the connection without
   * one from this side within {@code ttlTenths} tenths of a second.
   */
  static ByteBuf ping(int ttlTenths) {
    return command("PING", Unpooled.buffer(Short.BYTES).writeShort(ttlTenths));
  }

  static ByteBuf pong(ByteBuf context) {
    return command("PONG", context);
  }

  private static ByteBuf command(String name, ByteBuf data) {
    var nameBytes = ascii(name);
    return Unpooled.buffer()
        .writeByte(COMMAND)
        .writeByte(1 + nameBytes.length + data.readableBytes())
        .writeByte(nameBytes.length)
        .writeBytes(nameBytes)
        .writeBytes(data);
  }

  /**
   * Returns the message by which a subscriber subscribes to topics that begin with {@code prefix}.
   */
  static ByteBuf subscription(byte[] prefix) {
    var body = new byte[1 + prefix.length];
    body[0] = SUBSCRIBE;
    System.arraycopy(prefix, 0, body, 1, prefix.length);
    return message(ByteBufAllocator.DEFAULT, body);
  }

  /** Returns a whole message, including its frames' headers. */
  static ByteBuf message(ByteBufAllocator allocator, byte[]... frames) {
    long size = 0;
    for (var frame : frames) {
      size += headerBytes(frame.length) + (long) frame.length;
    }
    var bytes = allocator.buffer(Math.toIntExact(size)); // enough: nothing below can fail
    for (int i = 0; i < frames.length; i++) {
      int length = frames[i].length;
      int more = i < frames.length - 1 ? MORE : 0;
      if (length <= MAX_SHORT_BYTES) {
        bytes.writeByte(more).writeByte(length);
      } else {
        bytes.writeByte(more | LONG).writeLong(length);
      }
      bytes.writeBytes(frames[i]);
    }
    return bytes;
  }

  private static int headerBytes(int length) {
    return length <= MAX_SHORT_BYTES ? SHORT_HEADER_BYTES : LONG_HEADER_BYTES;
  }
}
