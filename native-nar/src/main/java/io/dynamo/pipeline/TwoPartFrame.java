package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * Dynamo's two-part message, big-endian; the checksum is always 0 and never checked.
 *
 * <pre>
 *  0                8             16         24       24+H
 *  | header length H | body length B | checksum | header | body |
 * </pre>
 *
 * @param header a copy; JSON, and small
 * @param body owned by the holder of the frame
 */
public record TwoPartFrame(byte[] header, ByteBuf body) {
  public static final int PREFIX_BYTES = 24;

  private static final byte[] NONE = {};

  /**
   * Reads a frame as {@link #read(ByteBuf, int, int)} does, without a bound of its own for the
   * header.
   */
  public static @Nullable TwoPartFrame read(ByteBuf in, int maxBytes) throws FrameException {
    return read(in, maxBytes, maxBytes);
  }

  /**
   * Removes the next frame from {@code in} and returns it, or null when it is incomplete.
   *
   * @param maxHeaderBytes bound of the header, which is copied
   * @param maxBytes bound of header and body together
   * @throws FrameException when a length exceeds its bound
   */
  public static @Nullable TwoPartFrame read(ByteBuf in, int maxHeaderBytes, int maxBytes)
      throws FrameException {
    if (in.readableBytes() < PREFIX_BYTES) {
      return null;
    }
    int at = in.readerIndex();
    long headerBytes = in.getLong(at);
    long bodyBytes = in.getLong(at + 8);
    checkLengths(headerBytes, bodyBytes, maxHeaderBytes, maxBytes);
    if (in.readableBytes() - PREFIX_BYTES < headerBytes + bodyBytes) {
      return null;
    }
    in.skipBytes(PREFIX_BYTES);
    byte[] header = headerBytes == 0 ? NONE : new byte[(int) headerBytes];
    in.readBytes(header);
    var body = bodyBytes == 0 ? Unpooled.EMPTY_BUFFER : in.readRetainedSlice((int) bodyBytes);
    return new TwoPartFrame(header, body);
  }

  /**
   * Checks whether the next frame of {@code in} is complete and has no header.
   *
   * @return the length of its body, which begins after {@link #PREFIX_BYTES}; negative when it is
   *     no such frame
   * @throws FrameException when a length exceeds {@code maxBytes}
   */
  public static int wholeBody(ByteBuf in, int maxBytes) throws FrameException {
    if (in.readableBytes() < PREFIX_BYTES || in.getLong(in.readerIndex()) != 0) {
      return -1;
    }
    long bodyBytes = in.getLong(in.readerIndex() + 8);
    checkLengths(0, bodyBytes, maxBytes, maxBytes);
    return in.readableBytes() - PREFIX_BYTES < bodyBytes ? -1 : (int) bodyBytes;
  }

  /** Checks both lengths, which are unsigned: a negative one exceeds any bound. */
  private static void checkLengths(
      long headerBytes, long bodyBytes, int maxHeaderBytes, int maxBytes) throws FrameException {
    if (headerBytes < 0
        || bodyBytes < 0
        || headerBytes > Math.min(maxHeaderBytes, maxBytes)
        || bodyBytes > maxBytes - headerBytes) {
      throw new FrameException(
          "frame with a header of %s bytes and a body of %s bytes exceeds %d and %d bytes"
              .formatted(
                  Long.toUnsignedString(headerBytes),
                  Long.toUnsignedString(bodyBytes),
                  maxHeaderBytes,
                  maxBytes));
    }
  }

  /** Returns a frame with a header and no body. */
  public static ByteBuf ofHeader(ByteBufAllocator allocator, byte[] header) {
    return prefix(allocator, header.length, 0).writeBytes(header);
  }

  /** Returns a frame without header whose body is the {@code parts}, one after the other. */
  public static ByteBuf ofBody(ByteBufAllocator allocator, byte[]... parts) {
    int length = 0;
    for (byte[] part : parts) {
      length = Math.addExact(length, part.length);
    }
    var frame = prefix(allocator, 0, length);
    for (byte[] part : parts) {
      frame.writeBytes(part);
    }
    return frame;
  }

  /** Returns a frame buffer with its lengths written and room for exactly the two parts. */
  public static ByteBuf prefix(ByteBufAllocator allocator, int headerBytes, int bodyBytes) {
    int length = Math.addExact(PREFIX_BYTES, Math.addExact(headerBytes, bodyBytes));
    return allocator
        .buffer(length, length)
        .writeLong(headerBytes)
        .writeLong(bodyBytes)
        .writeLong(0);
  }

  public void release() {
    body.release();
  }
}
