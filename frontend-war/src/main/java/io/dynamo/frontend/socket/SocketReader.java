package io.dynamo.frontend.socket;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of a socket's client. Lengths are checked before memory is taken, and memory
 * is taken as the bytes come. For one thread, unless a method says otherwise.
 *
 * <pre>
 *  0               1               2
 *  |F|RSV|opcode   |M| length      | length of 16 or 64 bits | mask, 4 bytes | payload, masked
 * </pre>
 */
public final class SocketReader {
  private static final int BINARY = 2;
  private static final int CLOSE = 8;
  private static final int PING = 9;
  private static final int PONG = 10;
  private static final int MAX_CONTROL = 125;
  private static final int PIECE = 64 * 1024;

  private final InputStream in;
  private final int maxBytes;
  private final Arrival arrival;
  private byte[] message = {}; // of which the first size bytes have come
  private int size;
  private int opcode; // of the message under way; 0 for none
  private final byte[] mask = new byte[4];
  private long begun; // messages
  private volatile long arriving;

  /** Sees a message grow. */
  public interface Arrival {
    /**
     * Notes that a message takes {@code bytes} now.
     *
     * @throws BrokenSocketException when there is no room for it
     */
    void grows(int bytes) throws BrokenSocketException;
  }

  /**
   * @param maxBytes of one message
   */
  public SocketReader(InputStream in, int maxBytes, Arrival arrival) {
    this.in = in;
    this.maxBytes = maxBytes;
    this.arrival = arrival;
  }

  /**
   * Waits for the next message.
   *
   * @throws BrokenSocketException when the client breaks the protocol or a bound
   */
  public SocketMessage next() throws BrokenSocketException {
    try {
      while (true) {
        int first = in.read();
        if (first < 0) {
          return new SocketMessage.Gone();
        }
        if (opcode == 0) {
          arriving = ++begun;
        }
        var message = frame(first);
        if (opcode == 0) {
          arriving = 0;
        }
        if (message != null) {
          return message;
        }
      }
    } catch (IOException | RuntimeException e) { // the connection is gone, or was closed here
      return new SocketMessage.Gone();
    }
  }

  /**
   * The number of the message of which a part has come; 0 for none. Control frames inside a message
   * do not end it. Safe from any thread.
   */
  public long arriving() {
    return arriving;
  }

  /** Reads a frame; returns null when more frames of its message follow. */
  private @Nullable SocketMessage frame(int first) throws IOException, BrokenSocketException {
    if ((first & 0x70) != 0) {
      throw protocol("an extension was not negotiated");
    }
    boolean last = (first & 0x80) != 0;
    int code = first & 0x0F;
    int second = byteRead();
    if ((second & 0x80) == 0) {
      throw protocol("a frame of a client is not masked");
    }
    long length = length(second & 0x7F);
    if (code >= CLOSE) {
      return control(code, last, length);
    }
    begin(code);
    if (length > maxBytes - size) {
      throw new BrokenSocketException(
          CloseReason.TOO_BIG, "a message has more than " + maxBytes + " bytes");
    }
    readMask();
    append((int) length);
    return last ? whole() : null;
  }

  private void begin(int code) throws BrokenSocketException {
    if (code > BINARY) {
      throw protocol("unknown kind of frame");
    }
    if ((code == 0) == (opcode == 0)) {
      throw protocol(
          code == 0 ? "a continuation without a beginning" : "a message inside another one");
    }
    if (code != 0) {
      opcode = code;
      size = 0;
    }
  }

  private SocketMessage whole() throws BrokenSocketException {
    int kind = opcode;
    opcode = 0;
    var bytes = message;
    int count = size;
    message = new byte[0];
    size = 0;
    if (kind == BINARY) {
      return new SocketMessage.Binary(count);
    }
    return new SocketMessage.Text(utf8(bytes, 0, count));
  }

  private SocketMessage control(int code, boolean last, long length)
      throws IOException, BrokenSocketException {
    if (!last || length > MAX_CONTROL) {
      throw protocol("a control frame is fragmented or too long");
    }
    readMask();
    var payload = new byte[(int) length];
    readFully(payload, 0, payload.length);
    unmask(payload, 0, payload.length, 0);
    return switch (code) {
      case CLOSE -> new SocketMessage.Close(closeReason(payload));
      case PING -> new SocketMessage.Ping(payload);
      case PONG -> new SocketMessage.Pong();
      default -> throw protocol("unknown kind of control frame");
    };
  }

  private static CloseReason closeReason(byte[] payload) throws BrokenSocketException {
    if (payload.length == 0) {
      return new CloseReason(CloseReason.NORMAL, "");
    }
    int code = payload.length < 2 ? 0 : (payload[0] & 0xFF) << 8 | (payload[1] & 0xFF);
    if (!CloseReason.mayBeSent(code)) {
      throw protocol("a close frame has no valid code");
    }
    return new CloseReason(code, utf8(payload, 2, payload.length - 2));
  }

  private static String utf8(byte[] bytes, int at, int count) throws BrokenSocketException {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes, at, count))
          .toString();
    } catch (CharacterCodingException e) {
      throw new BrokenSocketException(CloseReason.NOT_CONSISTENT, "a text is not UTF-8");
    }
  }

  private long length(int announced) throws IOException, BrokenSocketException {
    int more = announced < 126 ? 0 : announced == 126 ? 2 : 8;
    if (more == 0) {
      return announced;
    }
    long length = 0;
    for (int i = 0; i < more; i++) {
      length = length << 8 | byteRead();
    }
    if (length < 0 || length < (more == 2 ? 126 : 1 << 16)) {
      throw protocol("a length is not written in its shortest form");
    }
    return length;
  }

  private void readMask() throws IOException {
    readFully(mask, 0, mask.length);
  }

  private void append(int length) throws IOException, BrokenSocketException {
    for (int done = 0; done < length; ) {
      int count = Math.min(PIECE, length - done);
      if (message.length - size < count) {
        int grown = (int) Math.min(maxBytes, Math.max(size + (long) count, 2L * message.length));
        arrival.grows(grown);
        message = Arrays.copyOf(message, grown);
      }
      readFully(message, size, count);
      unmask(message, size, count, done);
      size += count;
      done += count;
    }
  }

  private void unmask(byte[] bytes, int at, int count, int offset) {
    for (int i = 0; i < count; i++) {
      bytes[at + i] ^= mask[(offset + i) & 3];
    }
  }

  private int byteRead() throws IOException {
    int value = in.read();
    if (value < 0) {
      throw new EOFException();
    }
    return value;
  }

  private void readFully(byte[] into, int at, int count) throws IOException {
    if (in.readNBytes(into, at, count) < count) {
      throw new EOFException();
    }
  }

  private static BrokenSocketException protocol(String text) {
    return new BrokenSocketException(CloseReason.PROTOCOL_ERROR, text);
  }
}
