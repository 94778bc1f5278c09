package io.dynamo.it;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Stands between the event publishers of a cluster and all who hear them, on the wire: workers that
 * advertise {@link #HOST} listen on the same port of 127.0.0.1, and this connects the two (on Linux
 * all of 127.0.0.0/8 is this machine). ZeroMQ's bytes pass as they are, except that whole messages
 * may be lost, doubled, or overtaken by the next one. Safe for concurrent use; ends with {@link
 * #close}.
 */
final class EventProxy implements AutoCloseable {
  /** The host that workers have to advertise, as {@code dynamo.event.zmq.host}. */
  static final String HOST = "127.0.0.2";

  private static final Pattern ENDPOINT =
      Pattern.compile("\"tcp://" + Pattern.quote(HOST) + ":(\\d+)\"");
  private static final long LOOK_NANOS = Duration.ofMillis(50).toNanos();
  private static final int GREETING_BYTES = 64;
  private static final int MORE = 1; // flags of a ZMTP frame
  private static final int LONG = 2;
  private static final int COMMAND = 4;

  /**
   * How often what happens to a message, each from 0 to 1 and together at most 1.
   *
   * @param late overtaken by the next message of the connection
   */
  record Faults(double lost, double doubled, double late) {
    static final Faults NONE = new Faults(0, 0, 0);
  }

  private enum Fate {
    PASSED,
    LOST,
    DOUBLED,
    LATE
  }

  private final Path channels;
  private final Random random; // guarded by this
  private final Map<Integer, ServerSocket> doors = new HashMap<>(); // by port, guarded by this
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile Faults faults = Faults.NONE;
  private volatile boolean cut;
  private volatile boolean closed;

  /**
   * @param store the folder of file discovery
   * @param seed of the faults
   */
  EventProxy(Path store, long seed) {
    this.channels = store.resolve("v1/event_channels");
    this.random = new Random(seed);
    Thread.ofVirtual().name("event-proxy").start(this::look);
  }

  void inflict(Faults now) {
    faults = now;
  }

  /** Ends all connections and takes none. */
  synchronized void cut() throws IOException {
    cut = true;
    for (var door : doors.values()) {
      door.close();
    }
    doors.clear();
    for (var socket : open) {
      socket.close();
    }
  }

  /** Takes connections again. */
  synchronized void restore() {
    cut = false;
  }

  /** Opens a door for each publisher in discovery, until closed. */
  private void look() {
    while (!closed) {
      try {
        if (Files.isDirectory(channels)) {
          try (var records = Files.newDirectoryStream(channels)) {
            for (var record : records) {
              open(record);
            }
          }
        }
      } catch (IOException e) {
        throw new AssertionError("the publishers cannot be listed", e);
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private void open(Path record) throws IOException {
    try {
      var endpoint = ENDPOINT.matcher(Files.readString(record));
      if (endpoint.find()) {
        open(Integer.parseInt(endpoint.group(1)));
      }
    } catch (NoSuchFileException gone) {
      // between listing and reading
    }
  }

  private synchronized void open(int port) throws IOException {
    if (cut || closed || doors.containsKey(port)) {
      return;
    }
    var door = new ServerSocket(port, 16, InetAddress.getByName(HOST));
    doors.put(port, door);
    Thread.ofVirtual().start(() -> serve(door));
  }

  private void serve(ServerSocket door) {
    while (true) {
      try {
        var subscriber = door.accept();
        Thread.ofVirtual().start(() -> connect(subscriber, door.getLocalPort()));
      } catch (IOException over) {
        return;
      }
    }
  }

  private void connect(Socket subscriber, int port) {
    try (subscriber;
        var publisher = new Socket()) {
      open.add(subscriber);
      open.add(publisher);
      if (cut || closed) {
        return;
      }
      publisher.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
      subscriber.setTcpNoDelay(true);
      publisher.setTcpNoDelay(true);
      var back = Thread.ofVirtual().start(() -> copy(subscriber, publisher));
      carry(publisher, subscriber);
      subscriber.close();
      back.join();
    } catch (IOException over) {
      // either side, or the cut
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } finally {
      open.remove(subscriber);
    }
  }

  /** Forwards the subscriber's bytes unchanged. */
  private static void copy(Socket subscriber, Socket publisher) {
    try (publisher) {
      subscriber.getInputStream().transferTo(publisher.getOutputStream());
    } catch (IOException over) {
      // either side, or the cut
    }
  }

  /** Forwards, drops or delays each message of the publisher. */
  private void carry(Socket publisher, Socket subscriber) throws IOException {
    try {
      var in = new DataInputStream(new BufferedInputStream(publisher.getInputStream()));
      var out = subscriber.getOutputStream();
      greet(in, out);
      byte[] late = null;
      while (true) {
        var message = new ByteArrayOutputStream();
        if (isCommand(in, message)) {
          out.write(message.toByteArray());
          continue;
        }
        late = pass(message.toByteArray(), late, out);
      }
    } finally {
      open.remove(publisher);
    }
  }

  /** Both sides greet bit by bit: what has come is passed on at once. */
  private static void greet(DataInputStream in, OutputStream out) throws IOException {
    var chunk = new byte[GREETING_BYTES];
    for (int left = GREETING_BYTES; left > 0; ) {
      int count = in.read(chunk, 0, left);
      if (count < 0) {
        throw new EOFException();
      }
      out.write(chunk, 0, count);
      left -= count;
    }
  }

  /** Reads a command, or the frames of a message, as they are on the wire. */
  private static boolean isCommand(DataInputStream in, ByteArrayOutputStream bytes)
      throws IOException {
    var copy = new DataOutputStream(bytes);
    int flags;
    do {
      flags = in.readUnsignedByte();
      copy.writeByte(flags);
      int length;
      if ((flags & LONG) == 0) {
        length = in.readUnsignedByte();
        copy.writeByte(length);
      } else {
        long announced = in.readLong();
        copy.writeLong(announced);
        length = Math.toIntExact(announced);
      }
      var body = in.readNBytes(length);
      if (body.length < length) {
        throw new EOFException();
      }
      copy.write(body);
    } while ((flags & MORE) != 0);
    return (flags & COMMAND) != 0;
  }

  /**
   * Returns the message that is to follow the next one.
   *
   * @param late is to follow this one
   */
  private byte @Nullable [] pass(byte[] message, byte @Nullable [] late, OutputStream out)
      throws IOException {
    var fate = fate();
    if (fate == Fate.LATE && late == null) {
      return message;
    }
    if (fate != Fate.LOST) {
      out.write(message);
    }
    if (fate == Fate.DOUBLED) {
      out.write(message);
    }
    if (late != null) {
      out.write(late);
    }
    return null;
  }

  private synchronized Fate fate() {
    var now = faults;
    double drawn = random.nextDouble();
    if (drawn < now.lost) {
      return Fate.LOST;
    }
    if (drawn < now.lost + now.doubled) {
      return Fate.DOUBLED;
    }
    return drawn < now.lost + now.doubled + now.late ? Fate.LATE : Fate.PASSED;
  }

  @Override
  public void close() throws IOException {
    closed = true;
    cut();
  }
}
