package io.dynamo.transfer.jni;

import io.dynamo.transfer.jni.TransferPair.Fault;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Stands between a writer or reader and the owner of a region, and breaks connections by their
 * number: the first one is 1, and each transfer has one of its own.
 */
final class TcpFaultLink implements AutoCloseable {
  private static final int HEADER_BYTES = 48;
  private static final int KIND_AT = 5;
  private static final int LENGTH_AT = 32;
  private static final byte WRITE = 2;
  private static final byte DATA = 4;

  private final int owner;
  private final int shortBytes;
  private final Map<Integer, Fault> faults;
  private final ServerSocket listener;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ExecutorService pumps = // of platform threads: others leave the JDK's poller open
      Executors.newCachedThreadPool(Thread.ofPlatform().daemon().name("fault-link-", 0).factory());

  /**
   * @param owner port where the owner of the region listens
   */
  TcpFaultLink(int owner, Map<Integer, Fault> faults) {
    this(owner, faults, TransferFaultsTest.MOVED / 2);
  }

  /**
   * @param owner port where the owner of the region listens
   * @param shortBytes where a connection with {@link Fault#SHORT} ends
   */
  TcpFaultLink(int owner, Map<Integer, Fault> faults, int shortBytes) {
    this.owner = owner;
    this.shortBytes = shortBytes;
    this.faults = Map.copyOf(faults);
    try {
      this.listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
    } catch (IOException noPort) {
      throw new UncheckedIOException(noPort);
    }
    var _ = pumps.submit(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  private void accept() {
    try {
      for (int number = 1; ; number++) {
        serveApart(listener.accept(), faults.get(number));
      }
    } catch (IOException over) {
      // the listener is closed
    }
  }

  private void serveApart(Socket writer, @Nullable Fault fault) throws IOException {
    open.add(writer);
    try {
      var _ = pumps.submit(() -> serve(writer, fault));
    } catch (RejectedExecutionException closing) {
      writer.close();
    }
  }

  private void serve(Socket writer, @Nullable Fault fault) {
    try (writer) {
      if (fault == Fault.FAIL) {
        return;
      }
      if (fault == Fault.DROP) {
        closed.await(); // the writer hears nothing
        return;
      }
      if (fault == Fault.DELAY) {
        var _ = closed.await(FaultPlans.DELAY.toMillis(), TimeUnit.MILLISECONDS);
      }
      try (var behind = new Socket(InetAddress.getLoopbackAddress(), owner)) {
        open.add(behind);
        var _ = pumps.submit(() -> answer(behind, writer, fault));
        pass(new DataInputStream(writer.getInputStream()), behind.getOutputStream(), fault);
        open.remove(behind);
      }
    } catch (IOException over) {
      // either side has closed its connection
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } finally {
      open.remove(writer);
    }
  }

  private void answer(Socket owner, Socket writer, @Nullable Fault fault) {
    try {
      pass(new DataInputStream(owner.getInputStream()), writer.getOutputStream(), fault);
      writer.shutdownOutput();
    } catch (IOException over) {
      // either side has closed its connection
    }
  }

  /** Passes messages of one side on, until the fault ends the connection or that side does. */
  private void pass(DataInputStream in, OutputStream out, @Nullable Fault fault)
      throws IOException {
    long written = 0;
    var header = new byte[HEADER_BYTES];
    while (in.readNBytes(header, 0, HEADER_BYTES) == HEADER_BYTES) {
      var payload = new byte[lengthOf(header)];
      in.readFully(payload);
      int length = payload.length;
      if (header[KIND_AT] == WRITE || header[KIND_AT] == DATA) {
        if (fault == Fault.CORRUPT && written == 0) {
          payload[0] ^= 1;
        }
        if (fault == Fault.SHORT) {
          length = (int) Math.min(length, shortBytes - written);
        }
        written += length;
      }
      out.write(header);
      out.write(payload, 0, length);
      if (length < payload.length) {
        return;
      }
    }
  }

  private static int lengthOf(byte[] header) {
    return ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(LENGTH_AT);
  }

  @Override
  public void close() throws IOException {
    closed.countDown();
    listener.close();
    for (var socket : open) {
      socket.close();
    }
    pumps.close();
  }
}
