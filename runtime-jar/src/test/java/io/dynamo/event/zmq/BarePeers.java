package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Peers on bare sockets: captured ones, and ones that speak nonsense. */
final class BarePeers implements Closeable {
  private final List<Closeable> opened = new CopyOnWriteArrayList<>();

  static final int GREETING_BYTES = 64;
  static final int READY_BYTES = 27; // of the captured peers

  /**
   * Plays the bytes of a captured peer at the times of the protocol: the greeting, READY after the
   * other's greeting, the rest after the other's READY.
   *
   * @return whether there was another; the library may forget a connection before it says a byte
   */
  static boolean play(byte[] captured, Socket peer) throws IOException {
    var out = peer.getOutputStream();
    var in = peer.getInputStream();
    out.write(captured, 0, GREETING_BYTES);
    var greeting = in.readNBytes(GREETING_BYTES);
    if (greeting.length == 0) {
      return false;
    }
    assertThat(greeting).startsWith(0xff);
    out.write(captured, GREETING_BYTES, READY_BYTES);
    var header = in.readNBytes(2);
    assertThat(header[0]).isEqualTo((byte) 4); // a short command
    assertThat(new String(in.readNBytes(header[1] & 0xff), StandardCharsets.ISO_8859_1))
        .startsWith("\u0005READY");
    int said = GREETING_BYTES + READY_BYTES;
    out.write(captured, said, captured.length - said);
    return true;
  }

  /** As {@link #play}; a connection that the library forgot is reset when it gives it up. */
  private static boolean played(byte[] captured, Socket peer) {
    try {
      return play(captured, peer);
    } catch (IOException _) {
      return false;
    }
  }

  /** Waits until the other has noticed: what it has not read yet is not lost by a reset. */
  private static void hangUp(Socket client) {
    try (client) {
      client.shutdownOutput();
      client.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (IOException _) {
      // it was quicker
    }
  }

  /** A captured publisher that hangs up on all but the last of those who connect. */
  ServerSocket playing(byte[] captured, int times) throws IOException {
    return playing(captured, times, 0);
  }

  /** The same at a port. */
  ServerSocket playing(byte[] captured, int times, int port) throws IOException {
    var server = opened(new ServerSocket(port, 10, InetAddress.getLoopbackAddress()));
    Thread.ofVirtual()
        .start(
            () -> {
              for (int heard = 0; heard < times; ) {
                Socket client;
                try {
                  client = opened(server.accept());
                } catch (IOException _) {
                  return; // the test has ended
                }
                if (played(captured, client) && ++heard < times) {
                  hangUp(client);
                }
              }
            });
    return server;
  }

  /** A peer that writes bytes to whoever connects, and then is silent. */
  ServerSocket saying(byte[] bytes) throws IOException {
    var server = opened(new ServerSocket(0, 10, InetAddress.getLoopbackAddress()));
    Thread.ofVirtual()
        .start(
            () -> {
              while (true) {
                try {
                  opened(server.accept()).getOutputStream().write(bytes);
                } catch (IOException _) {
                  return; // the test has ended
                }
              }
            });
    return server;
  }

  /** Returns the publisher of a capture: the second frame of the first message. */
  static long publisherOf(byte[] head) {
    var topic = "\u0009kv-events".getBytes(StandardCharsets.US_ASCII);
    var text = new String(head, StandardCharsets.ISO_8859_1);
    int at = text.indexOf(new String(topic, StandardCharsets.ISO_8859_1)) + topic.length;
    return Long.parseUnsignedLong(HexFormat.of().formatHex(head, at + 2, at + 10), 16);
  }

  /** Adds a resource that is closed with the peers. */
  <T extends Closeable> T opened(T part) {
    opened.add(part);
    return part;
  }

  /** Hangs up on all. */
  @Override
  public void close() throws IOException {
    for (var each : opened) {
      each.close();
    }
    opened.clear();
  }
}
