package io.dynamo.request.tcp;

import io.dynamo.pipeline.FrameException;
import io.dynamo.pipeline.TwoPartFrame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A request on a worker's connection, big-endian.
 *
 * <pre>
 * | path length u16 | path | headers length u16 | headers | payload length u32 | payload |
 * </pre>
 *
 * The payload is one two-part frame of control message and body.
 */
record RequestFrame(byte[] path, byte[] headers, byte[] control, byte[] body) {
  static final int MAX_SHORT = 0xffff;

  /**
   * Far above any real path, and below the length that the first bytes of a TLS greeting would
   * announce.
   */
  static final int MAX_PATH = 4096;

  private static final byte[] NOTHING = {};

  /** Thrown when a frame announces more than is allowed, before any of it arrives. */
  static final class TooLargeException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The text of the acknowledgement that refuses the frame. */
    final String refusal;

    TooLargeException(String refusal) {
      super(refusal, null, false, false);
      this.refusal = refusal;
    }
  }

  /** Returns the size on the wire in bytes, including the three length fields. */
  long length() {
    return 8L + path.length + headers.length + payloadLength();
  }

  /** Returns the size of the two-part frame in bytes. */
  long payloadLength() {
    return (long) TwoPartFrame.PREFIX_BYTES + control.length + body.length;
  }

  /** Returns a frame without path and headers, whose payload alone is carried. */
  static RequestFrame ofPayload(byte[] control, byte[] body) {
    return new RequestFrame(NOTHING, NOTHING, control, body);
  }

  /** Returns the two-part frame of control message and body. */
  byte[] payload() {
    return ByteBuffer.allocate(Math.toIntExact(payloadLength()))
        .putLong(control.length)
        .putLong(body.length)
        .putLong(0)
        .put(control)
        .put(body)
        .array();
  }

  /**
   * Reads a payload; one of another form yields an empty control message, which its reader refuses.
   */
  static RequestFrame ofPayload(byte[] payload) {
    return payload(NOTHING, NOTHING, Unpooled.wrappedBuffer(payload));
  }

  /** Returns the frame as it is sent; {@code OutgoingRequest.check} has checked its parts. */
  ByteBuf encode(ByteBufAllocator allocator) {
    int length = Math.toIntExact(length());
    return allocator
        .buffer(length, length)
        .writeShort(path.length)
        .writeBytes(path)
        .writeShort(headers.length)
        .writeBytes(headers)
        .writeInt((int) payloadLength())
        .writeLong(control.length)
        .writeLong(body.length)
        .writeLong(0)
        .writeBytes(control)
        .writeBytes(body);
  }

  /** Removes the next frame from {@code in}; returns null while it is incomplete. */
  static @Nullable RequestFrame read(ByteBuf in, int maxBytes) throws TooLargeException {
    int start = in.readerIndex();
    int readable = in.readableBytes();
    if (readable < 2) {
      return null;
    }
    int pathBytes = in.getUnsignedShort(start);
    if (pathBytes > MAX_PATH) {
      throw new TooLargeException(Acks.pathTooLong(pathBytes, MAX_PATH));
    }
    if (readable < 4 + pathBytes) {
      return null;
    }
    int headerBytes = in.getUnsignedShort(start + 2 + pathBytes);
    if (readable < 8 + pathBytes + headerBytes) {
      return null;
    }
    long payloadBytes = in.getUnsignedInt(start + 4 + pathBytes + headerBytes);
    long total = 8 + pathBytes + headerBytes + payloadBytes;
    if (total > maxBytes) {
      throw new TooLargeException(Acks.tooLarge(total, maxBytes));
    }
    if (readable < total) {
      return null;
    }
    var path = new byte[pathBytes];
    in.skipBytes(2).readBytes(path).skipBytes(2);
    var headers = new byte[headerBytes];
    in.readBytes(headers).skipBytes(4);
    return payload(path, headers, in.readSlice((int) payloadBytes));
  }

  /**
   * Reads the two-part payload. A payload of another form yields an empty control message, which
   * its reader refuses.
   */
  private static RequestFrame payload(byte[] path, byte[] headers, ByteBuf payload) {
    TwoPartFrame parts;
    try {
      parts = TwoPartFrame.read(payload, payload.readableBytes());
    } catch (FrameException e) {
      parts = null;
    }
    if (parts == null) {
      return new RequestFrame(path, headers, NOTHING, NOTHING);
    }
    try {
      var body = new byte[parts.body().readableBytes()];
      parts.body().getBytes(parts.body().readerIndex(), body);
      return new RequestFrame(path, headers, parts.header(), body);
    } finally {
      parts.release();
    }
  }
}
