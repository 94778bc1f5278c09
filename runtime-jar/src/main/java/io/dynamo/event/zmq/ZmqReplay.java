package io.dynamo.event.zmq;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Asks a publisher for the messages that it keeps, over ZeroMQ: a request with the first sequence
 * number to a ROUTER socket, which answers with messages and an end mark. Blocks its thread.
 * Without state.
 */
public final class ZmqReplay {
  private static final long END = -1;
  private static final int GREETING_BYTES = 64;
  private static final int MORE = 1;
  private static final int LONG = 2;
  private static final int COMMAND = 4;
  private static final int MAX_FRAMES = 8;

  /** Receives the messages in order. */
  public interface Receiver {
    void message(long sequence, byte[] payload) throws IOException;
  }

  private ZmqReplay() {}

  /**
   * Passes on the messages from {@code first} that the publisher still has.
   *
   * @param endpoint {@code tcp://host:port}
   * @param maxBytes limit of one frame
   * @param limit how long all of it may take
   * @throws IOException when the address is none, the publisher does not answer completely, or a
   *     message is refused
   */
  public static void request(
      String endpoint, long first, int maxBytes, Duration limit, Receiver receiver)
      throws IOException {
    long end = System.nanoTime() + limit.toNanos();
    var address = address(endpoint);
    try (var socket = new Socket()) {
      socket.connect(address, millisUntil(end, limit));
      var out = socket.getOutputStream();
      var in = new DataInputStream(new BufferedInputStream(bounded(socket, end, limit), 1 << 16));
      out.write(greeting());
      out.write(frame(COMMAND, ready()));
      readGreeting(in);
      out.write(frame(MORE, new byte[0]));
      out.write(frame(0, ByteBuffer.allocate(Long.BYTES).putLong(first).array()));
      out.flush();
      while (true) {
        var frames = readMessage(in, out, maxBytes);
        int count = frames.size();
        if (count < 2 || frames.get(count - 2).length != Long.BYTES) {
          throw new IOException("an answer of %d frames without a sequence".formatted(count));
        }
        long sequence = ByteBuffer.wrap(frames.get(count - 2)).getLong();
        if (sequence == END) {
          return;
        }
        receiver.message(sequence, frames.get(count - 1));
      }
    }
  }

  private static InetSocketAddress address(String endpoint) throws IOException {
    try {
      var address = new URI(endpoint);
      if (address.getHost() != null && address.getPort() > 0) {
        return new InetSocketAddress(address.getHost(), address.getPort());
      }
    } catch (URISyntaxException | IllegalArgumentException e) {
      throw new IOException("%s is not tcp://host:port".formatted(endpoint), e);
    }
    throw new IOException("%s is not tcp://host:port".formatted(endpoint));
  }

  /** Returns the bytes of {@code socket}, each read of which ends in time. */
  private static InputStream bounded(Socket socket, long end, Duration limit) throws IOException {
    return new FilterInputStream(socket.getInputStream()) {
      @Override
      public int read(byte[] to, int offset, int length) throws IOException {
        socket.setSoTimeout(millisUntil(end, limit));
        return super.read(to, offset, length);
      }
    };
  }

  private static int millisUntil(long end, Duration limit) throws IOException {
    long left = end - System.nanoTime();
    if (left <= 0) {
      throw new IOException("the answer takes longer than " + limit);
    }
    return (int) Math.min(Integer.MAX_VALUE, 1 + left / 1_000_000);
  }

  private static byte[] greeting() {
    var bytes = ByteBuffer.allocate(GREETING_BYTES);
    bytes.put((byte) 0xFF).putLong(1).put((byte) 0x7F); // the signature
    bytes.put((byte) 3).put((byte) 0); // the version
    bytes.put("NULL".getBytes(StandardCharsets.US_ASCII));
    return bytes.array();
  }

  private static byte[] ready() {
    var bytes = ByteBuffer.allocate(64);
    bytes.put((byte) 5).put("READY".getBytes(StandardCharsets.US_ASCII));
    put(bytes, "Socket-Type", "DEALER");
    put(bytes, "Identity", "");
    var all = new byte[bytes.position()];
    bytes.flip().get(all);
    return all;
  }

  private static void put(ByteBuffer to, String name, String value) {
    to.put((byte) name.length()).put(name.getBytes(StandardCharsets.US_ASCII));
    to.putInt(value.length()).put(value.getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] frame(int flags, byte[] body) {
    var bytes = ByteBuffer.allocate(2 + body.length); // no body here is longer than 255
    bytes.put((byte) flags).put((byte) body.length).put(body);
    return bytes.array();
  }

  private static void readGreeting(DataInputStream in) throws IOException {
    var bytes = new byte[GREETING_BYTES];
    in.readFully(bytes);
    if (bytes[0] != (byte) 0xFF || bytes[9] != 0x7F || bytes[10] < 3) {
      throw new IOException("the peer does not speak ZMTP 3");
    }
  }

  /** Reads one message; answers pings and skips other commands on the way. */
  private static List<byte[]> readMessage(DataInputStream in, OutputStream out, int maxBytes)
      throws IOException {
    var frames = new ArrayList<byte[]>();
    while (true) {
      int flags = in.readUnsignedByte();
      long length = (flags & LONG) == 0 ? in.readUnsignedByte() : in.readLong();
      if (length < 0 || length > maxBytes) {
        throw new IOException(
            "a frame of %s bytes exceeds %d".formatted(Long.toUnsignedString(length), maxBytes));
      }
      var body = new byte[(int) length];
      in.readFully(body);
      if ((flags & COMMAND) != 0) {
        answer(body, out);
        continue;
      }
      frames.add(body);
      if ((flags & MORE) == 0) {
        return frames;
      }
      if (frames.size() == MAX_FRAMES) {
        throw new IOException("a message of more than %d frames".formatted(MAX_FRAMES));
      }
    }
  }

  private static void answer(byte[] command, OutputStream out) throws IOException {
    var name = command.length == 0 ? "" : name(command);
    if (name.equals("ERROR")) {
      throw new EOFException("the peer refuses the connection");
    }
    if (name.equals("PING")) {
      int context = Math.max(0, Math.min(16, command.length - 7)); // after name and time to live
      var pong = ByteBuffer.allocate(5 + context);
      pong.put((byte) 4).put("PONG".getBytes(StandardCharsets.US_ASCII));
      pong.put(command, command.length - context, context);
      out.write(frame(COMMAND, pong.array()));
      out.flush();
    }
  }

  private static String name(byte[] command) {
    int length = Math.min(command[0] & 0xFF, command.length - 1);
    return new String(command, 1, length, StandardCharsets.US_ASCII);
  }
}
