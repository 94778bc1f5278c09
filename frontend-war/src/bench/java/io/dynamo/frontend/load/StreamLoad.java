package io.dynamo.frontend.load;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Streams chats from a running server and prints tokens per second, time to first token, and the
 * CPU time that given processes spent per token. A source file to be run as it is: {@code java
 * frontend-war/src/bench/java/io/dynamo/frontend/load/StreamLoad.java PORT STREAMS TOKENS ROUNDS
 * [PID...]}.
 *
 * <p>Each of STREAMS clients sends ROUNDS requests of TOKENS tokens, one after the other, over one
 * kept connection. The first round warms up and is not counted.
 */
public final class StreamLoad {
  private static final double TICKS_PER_SECOND = 100; // USER_HZ on Linux

  public static void main(String[] args) throws Exception {
    if (args.length < 4) {
      System.err.println("usage: StreamLoad PORT STREAMS TOKENS ROUNDS [PID...]");
      System.exit(2);
    }
    int port = Integer.parseInt(args[0]);
    int streams = Integer.parseInt(args[1]);
    int tokens = Integer.parseInt(args[2]);
    int rounds = Integer.parseInt(args[3]);
    var pids = Arrays.copyOfRange(args, 4, args.length);

    var events = new AtomicLong();
    var failed = new AtomicInteger();
    var firstTokenNanos = new long[streams * rounds];
    var warm = new CountDownLatch(streams);
    var go = new CountDownLatch(1);
    var done = new CountDownLatch(streams);
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int s = 0; s < streams; s++) {
        int stream = s;
        executor.submit(
            () -> {
              boolean counted = false;
              try (var socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5000);
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(60_000);
                var in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
                chat(socket, in, stream, -1, tokens);
                warm.countDown();
                counted = true;
                go.await();
                for (int round = 0; round < rounds; round++) {
                  var result = chat(socket, in, stream, round, tokens);
                  firstTokenNanos[stream * rounds + round] = result[0];
                  events.addAndGet(result[1]);
                }
              } catch (IOException e) {
                failed.incrementAndGet();
                System.err.println(e);
              } finally {
                if (!counted) {
                  warm.countDown();
                }
                done.countDown();
              }
              return null;
            });
      }
      warm.await();
      var before = cpuTicks(pids);
      long start = System.nanoTime();
      go.countDown();
      done.await();
      double seconds = (System.nanoTime() - start) / 1e9;
      var after = cpuTicks(pids);
      Arrays.sort(firstTokenNanos);
      System.out.printf(
          "%d streams x %d tokens x %d rounds: %.0f tokens/s, TTFT p50 %.1f ms p99 %.1f ms, %d"
              + " failed%n",
          streams,
          tokens,
          rounds,
          events.get() / seconds,
          firstTokenNanos[firstTokenNanos.length / 2] / 1e6,
          firstTokenNanos[(int) (firstTokenNanos.length * 0.99)] / 1e6,
          failed.get());
      for (int i = 0; i < pids.length; i++) {
        System.out.printf(
            "process %s: %.2f us CPU per token, %d MB RSS%n",
            pids[i],
            (after[i] - before[i]) / TICKS_PER_SECOND * 1e6 / events.get(),
            rssMegabytes(pids[i]));
      }
    }
  }

  /**
   * One streamed chat; gives the nanoseconds to the first token and the number of chunks that
   * carried text.
   */
  private static long[] chat(Socket socket, InputStream in, int stream, int round, int tokens)
      throws IOException {
    var body =
        """
        {"model":"tiny","stream":true,"max_tokens":%d,"messages":[{"role":"user","content":"Stream %d, round %d"}]}\
        """
            .formatted(tokens, stream, round)
            .getBytes(StandardCharsets.UTF_8);
    var head =
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            .formatted(body.length)
            .getBytes(StandardCharsets.US_ASCII);
    long start = System.nanoTime();
    var out = socket.getOutputStream();
    var request = Arrays.copyOf(head, head.length + body.length);
    System.arraycopy(body, 0, request, head.length, body.length);
    out.write(request);
    var status = line(in);
    if (!status.contains(" 200 ")) {
      throw new IOException(status);
    }
    while (!line(in).isEmpty()) {}
    long first = 0;
    long chunks = 0;
    for (int size = chunkSize(in); size > 0; size = chunkSize(in)) {
      var text = new String(in.readNBytes(size), StandardCharsets.UTF_8);
      line(in);
      for (int at = text.indexOf("\"content\":\"");
          at >= 0;
          at = text.indexOf("\"content\":\"", at + 1)) {
        if (chunks++ == 0) {
          first = System.nanoTime() - start;
        }
      }
    }
    line(in);
    return new long[] {first, chunks};
  }

  private static int chunkSize(InputStream in) throws IOException {
    return Integer.parseInt(line(in).strip(), 16);
  }

  private static String line(InputStream in) throws IOException {
    var text = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the server closed the connection");
      }
      if (c != '\r') {
        text.append((char) c);
      }
    }
    return text.toString();
  }

  private static long[] cpuTicks(String[] pids) throws IOException {
    var ticks = new long[pids.length];
    for (int i = 0; i < pids.length; i++) {
      var stat = Files.readString(Path.of("/proc", pids[i], "stat"));
      var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      ticks[i] = Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }
    return ticks;
  }

  private static long rssMegabytes(String pid) throws IOException {
    for (var line : Files.readAllLines(Path.of("/proc", pid, "status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) / 1024;
      }
    }
    return -1;
  }
}
