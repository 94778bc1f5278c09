package io.dynamo.pipeline.zmtp;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The peer of a connection, driven byte by byte. Reads time out after ten seconds. */
final class BarePeer implements Closeable {
  static final String READY_SUB = "\u0004\u0019\u0005READY\u000bSocket-Type\0\0\0\u0003SUB";
  static final String READY_PUB = "\u0004\u0019\u0005READY\u000bSocket-Type\0\0\0\u0003PUB";
  private static final int READ_MILLIS = 10_000;

  /** A frame as received. */
  record Frame(int flags, String body) {
    boolean isCommand() {
      return (flags & ZmtpBytes.COMMAND) != 0;
    }
  }

  final Socket socket;

  BarePeer(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(READ_MILLIS);
    socket.setTcpNoDelay(true);
  }

  static BarePeer connected(InetSocketAddress address) throws IOException {
    return connected(address, 0);
  }

  /**
   * @param receiveBytes the most that the system keeps unread; 0 leaves it to the system
   */
  static BarePeer connected(InetSocketAddress address, int receiveBytes) throws IOException {
    var socket = new Socket();
    if (receiveBytes > 0) {
      socket.setReceiveBufferSize(receiveBytes);
    }
    socket.connect(address);
    return new BarePeer(socket);
  }

  static String greeting() {
    return "\u00ff\0\0\0\0\0\0\0\0\u007f\u0003\u0001NULL" + "\0".repeat(48);
  }

  /**
   * Performs the handshake.
   *
   * @return the peer's own READY command
   */
  String shakeHands(String ready) throws IOException {
    say(greeting());
    hear(ZmtpBytes.GREETING_BYTES);
    say(ready);
    return frame().body();
  }

  void say(String bytes) throws IOException {
    socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Returns a frame of a message. */
  static String framed(String body, boolean more) {
    if (body.length() <= 255) {
      return (more ? "\u0001" : "\0") + (char) body.length() + body;
    }
    var length = ByteBuffer.allocate(Long.BYTES).putLong(body.length()).array();
    return (more ? "\u0003" : "\u0002") + new String(length, StandardCharsets.ISO_8859_1) + body;
  }

  static String ping(int ttlTenths, String context) {
    return "\u0004"
        + (char) (7 + context.length())
        + "\u0004PING"
        + (char) (ttlTenths >> 8)
        + (char) (ttlTenths & 0xff)
        + context;
  }

  String hear(int count) throws IOException {
    var bytes = socket.getInputStream().readNBytes(count);
    if (bytes.length < count) {
      throw new IOException("closed after " + bytes.length + " bytes of " + count);
    }
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  Frame frame() throws IOException {
    int flags = hear(1).charAt(0);
    long length =
        (flags & ZmtpBytes.LONG) == 0
            ? hear(1).charAt(0)
            : ByteBuffer.wrap(hear(Long.BYTES).getBytes(StandardCharsets.ISO_8859_1)).getLong();
    return new Frame(flags, hear((int) length));
  }

  /** Returns all bytes until the peer closes. */
  String rest() throws IOException {
    var all = new ByteArrayOutputStream();
    try {
      socket.getInputStream().transferTo(all);
    } catch (java.net.SocketTimeoutException e) {
      throw new IOException("not closed, after " + all, e);
    } catch (java.net.SocketException e) {
      // reset: closed too
    }
    return all.toString(StandardCharsets.ISO_8859_1);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
