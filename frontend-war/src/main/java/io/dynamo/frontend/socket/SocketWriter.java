package io.dynamo.frontend.socket;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writes frames to a socket's client, each whole; nothing follows a close. Safe for concurrent use:
 * a thread waits while another writes to a slow client.
 */
public final class SocketWriter {
  private static final int TEXT = 0x81;
  private static final int CLOSE = 0x88;
  private static final int PING = 0x89;
  private static final int PONG = 0x8A;
  private static final int MAX_REASON = 123;

  private final OutputStream out;
  private final Stall stall;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean closed; // guarded by lock

  /** Sees writes, which wait for a client that reads slowly. */
  public interface Stall {
    void begins();

    void ends();
  }

  public SocketWriter(OutputStream out, Stall stall) {
    this.out = out;
    this.stall = stall;
  }

  /**
   * Sends a text.
   *
   * @param utf8 its bytes
   * @throws IOException when the client is gone, or the socket was closed
   */
  public void text(byte[] utf8) throws IOException {
    write(TEXT, utf8);
  }

  /** Asks the client for a pong. */
  public void ping() throws IOException {
    write(PING, new byte[0]);
  }

  public void pong(byte[] payload) throws IOException {
    write(PONG, payload);
  }

  /** Sends a close, unless one was sent. */
  public void close(CloseReason reason) throws IOException {
    lock.lock();
    try {
      sendClose(reason);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sends a close, unless one was sent, or a write waits for the client longer than {@code limit}.
   */
  public void closeWithin(Duration limit, CloseReason reason) {
    try {
      if (!lock.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    try {
      sendClose(reason);
    } catch (IOException e) {
      closed = true; // the client is gone
    } finally {
      lock.unlock();
    }
  }

  /** Sends nothing from now on, but for a write that is under way. */
  public void end() {
    if (lock.tryLock()) {
      try {
        closed = true;
      } finally {
        lock.unlock();
      }
    }
  }

  /** Called with the lock. */
  private void sendClose(CloseReason reason) throws IOException {
    if (closed) {
      return;
    }
    var text = reason.text().getBytes(StandardCharsets.UTF_8);
    var payload = new byte[2 + Math.min(MAX_REASON, text.length)];
    payload[0] = (byte) (reason.code() >> 8);
    payload[1] = (byte) reason.code();
    System.arraycopy(text, 0, payload, 2, payload.length - 2);
    closed = true;
    send(CLOSE, payload);
  }

  private void write(int head, byte[] payload) throws IOException {
    lock.lock();
    try {
      if (closed) {
        throw new IOException("the socket is closed");
      }
      send(head, payload);
    } finally {
      lock.unlock();
    }
  }

  /** Called with the lock. */
  private void send(int first, byte[] payload) throws IOException {
    int length = payload.length;
    var head = new byte[10];
    head[0] = (byte) first;
    int size = 2;
    if (length < 126) {
      head[1] = (byte) length;
    } else if (length < 1 << 16) {
      head[1] = 126;
      head[2] = (byte) (length >> 8);
      head[3] = (byte) length;
      size = 4;
    } else {
      head[1] = 127;
      for (int i = 0; i < 4; i++) {
        head[9 - i] = (byte) (length >> (8 * i));
      }
      size = 10;
    }
    stall.begins();
    try {
      if (length <= 1024) { // one packet
        var frame = Arrays.copyOf(head, size + length);
        System.arraycopy(payload, 0, frame, size, length);
        out.write(frame);
      } else {
        out.write(head, 0, size);
        out.write(payload);
      }
      out.flush();
    } catch (RuntimeException e) { // of a container whose connection is gone
      throw new IOException("the connection cannot be written to", e);
    } finally {
      stall.ends();
    }
  }
}
