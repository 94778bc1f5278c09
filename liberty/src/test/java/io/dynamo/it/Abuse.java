package io.dynamo.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients that a frontend would rather not have, on connections and threads of their own until
 * closed. Each group is owned by one test thread.
 */
final class Abuse {
  private static final Duration SETTLE = Duration.ofSeconds(60);
  private static final int AT_ONCE =
      256; // being opened: an idle stream waits a second for its head
  private static final int SMALL_WINDOW = 4096; // bytes

  private Abuse() {}

  /** Some of them. Closing hangs all up. */
  interface Group extends AutoCloseable {
    @Override
    void close();
  }

  /** Streams of a model that has not much to say: they get comments, and nobody reads them. */
  static Group idleStreams(ServerProcess server, int count, String model) throws Exception {
    return opened(
        count,
        number -> {
          var body = ChatClient.body(model, number + " says", 1000, true);
          var client = server.chat(body);
          client.status();
          return client;
        });
  }

  /** Streams of several megabytes each that nobody reads a byte of. */
  static Group neverReading(ServerProcess server, int count, String model) throws Exception {
    var body =
        ChatClient.body(model, "Hello", 3000, true)
            .replaceFirst("\\{", "{\"ignore_eos\":true,\"logprobs\":true,\"top_logprobs\":20,");
    return opened(
        count,
        _ -> {
          var socket = connect(server.port(), SMALL_WINDOW);
          socket.getOutputStream().write(request(body.length(), body));
          return socket;
        });
  }

  /** Uploads of one byte a second. Tells at its end how each was answered. */
  static final class Uploads implements Group {
    private final List<Socket> sockets = new ArrayList<>();
    private final Thread sender;
    private volatile boolean over;

    Uploads(ServerProcess server, int count) throws IOException {
      var start = request(1 << 20, "{");
      for (int i = 0; i < count; i++) {
        var socket = connect(server.port(), 0);
        socket.setSoTimeout((int) SETTLE.toMillis());
        socket.getOutputStream().write(start);
        sockets.add(socket);
      }
      this.sender = Thread.ofPlatform().name("uploads").unstarted(this::send);
      sender.start();
    }

    private void send() {
      while (!over) {
        LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
        for (var socket : sockets) {
          try {
            socket.getOutputStream().write(' ');
          } catch (IOException _) {
            // answered and closed; its answer is still to be read
          }
        }
      }
    }

    /** The status line of each answer, once all have come. */
    List<String> statusLines() throws IOException {
      var lines = new ArrayList<String>();
      for (var socket : sockets) {
        var line = new StringBuilder();
        for (int b = socket.getInputStream().read(); b >= ' '; b = socket.getInputStream().read()) {
          line.append((char) b);
        }
        lines.add(line.toString());
      }
      return lines;
    }

    @Override
    public void close() {
      over = true;
      LockSupport.unpark(sender);
      closeAll(sockets);
    }
  }

  /**
   * Connections that are reset as soon as they are made: every second one in the middle of a
   * request's head, some with a whole request to a model behind it.
   */
  static final class Resets implements Group {
    private final ServerProcess server;
    private final byte[] head;
    private final byte[] whole;
    private final long periodNanos;
    private final Thread thread;
    private volatile boolean over;
    private final AtomicLong made = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();

    Resets(ServerProcess server, int perSecond, String model) {
      this.server = server;
      this.head =
          "POST /v1/chat/completions HTTP/1.1\r\nHost: a".getBytes(StandardCharsets.US_ASCII);
      var body = ChatClient.body(model, "Hello", 100, true);
      this.whole = request(body.length(), body);
      this.periodNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
      this.thread = Thread.ofPlatform().name("resets").unstarted(this::run);
      thread.start();
    }

    private void run() {
      long due = System.nanoTime();
      for (int i = 0; !over; i++, due += periodNanos) {
        LockSupport.parkNanos(due - System.nanoTime());
        try (var socket = connect(server.port(), 0)) {
          if (i % 64 == 63) {
            socket.getOutputStream().write(whole);
          } else if (i % 2 == 1) {
            socket.getOutputStream().write(head);
          }
          socket.setSoLinger(true, 0);
          made.incrementAndGet();
        } catch (IOException e) {
          refused.incrementAndGet();
        }
      }
    }

    /** Connections that were made and reset so far. */
    long made() {
      return made.get();
    }

    /** Connections that did not come about. */
    long refused() {
      return refused.get();
    }

    @Override
    public void close() {
      over = true;
      LockSupport.unpark(thread);
      try {
        thread.join(SETTLE);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @FunctionalInterface
  private interface Opening {
    AutoCloseable open(int number) throws IOException;
  }

  private static Group opened(int count, Opening opening)
      throws InterruptedException, ExecutionException, TimeoutException {
    var permits = new Semaphore(AT_ONCE);
    var clients = new ArrayList<Future<AutoCloseable>>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < count; i++) {
        int number = i;
        clients.add(
            threads.submit(
                () -> {
                  permits.acquire();
                  try {
                    return opening.open(number);
                  } finally {
                    permits.release();
                  }
                }));
      }
    }
    var open = new ArrayList<AutoCloseable>();
    for (var client : clients) {
      open.add(client.get(SETTLE.toMillis(), TimeUnit.MILLISECONDS));
    }
    return () -> closeAll(open);
  }

  private static void closeAll(List<? extends AutoCloseable> clients) {
    for (var client : clients) {
      try {
        client.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static Socket connect(int port, int window) throws IOException {
    var socket = new Socket();
    if (window > 0) {
      socket.setOption(StandardSocketOptions.SO_RCVBUF, window);
    }
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5_000);
    return socket;
  }

  private static byte[] request(int length, String body) {
    return ("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
            + length
            + "\r\n\r\n"
            + body)
        .getBytes(StandardCharsets.UTF_8);
  }
}
