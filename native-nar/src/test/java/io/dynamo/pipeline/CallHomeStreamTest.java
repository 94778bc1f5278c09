package io.dynamo.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Tests a worker's stream against a requester on plain sockets. */
class CallHomeStreamTest {
  private static final long PATIENCE_MILLIS = 10_000;
  private static final Duration FIN_WAIT = Duration.ofMillis(100);
  private static final byte[] NONE = {};
  private static final EventLoops LOOPS = new EventLoops(1);

  private static final class Listener implements CallHomeListener {
    final CompletableFuture<SentStream> connected = new CompletableFuture<>();
    final CompletableFuture<Throwable> failed = new CompletableFuture<>();
    final CompletableFuture<Boolean> stalled = new CompletableFuture<>();
    final CompletableFuture<Boolean> killed = new CompletableFuture<>();
    final BlockingQueue<Integer> written = new LinkedBlockingQueue<>();
    final CompletableFuture<Boolean> closed = new CompletableFuture<>();

    @Override
    public void connected(SentStream stream) {
      connected.complete(stream);
    }

    @Override
    public void failed(Throwable cause) {
      failed.complete(cause);
    }

    @Override
    public void written(int items) {
      written.add(items);
    }

    @Override
    public void stop() {}

    @Override
    public void kill() {
      killed.complete(true);
    }

    @Override
    public void stalled() {
      stalled.complete(true);
    }

    @Override
    public void closed() {
      closed.complete(true);
    }
  }

  @AfterAll
  static void closeLoops() {
    LOOPS.close();
  }

  private static Listener dial(ServerSocket home, Duration writeStall) {
    var listener = new Listener();
    new CallHomeClient(LOOPS, null, Duration.ofSeconds(5), FIN_WAIT, writeStall)
        .dial(
            (InetSocketAddress) home.getLocalSocketAddress(),
            new Handshake("s", Handshake.RESPONSE),
            listener);
    return listener;
  }

  private static ServerSocket listen() throws Exception {
    return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  private static <T> T await(CompletableFuture<T> future) throws Exception {
    return future.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static void passTime(Duration time) throws Exception {
    LOOPS
        .next()
        .schedule(() -> {}, time.toNanos(), TimeUnit.NANOSECONDS)
        .get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static byte[] readFrame(Socket from) throws Exception {
    from.setSoTimeout((int) PATIENCE_MILLIS);
    var in = new DataInputStream(from.getInputStream());
    int length = Math.toIntExact(in.readLong() + in.readLong());
    in.readLong();
    return in.readNBytes(length);
  }

  /** Returns more bytes than two sockets hold. */
  private static byte[] large() {
    return new byte[32 << 20];
  }

  @Test
  void theWaitForTheEndBeginsWhenTheLastByteIsOut() throws Exception {
    try (var home = listen()) {
      var listener = dial(home, Duration.ofSeconds(30));
      try (var requester = home.accept()) {
        var stream = await(listener.connected);
        var written = new CompletableFuture<Boolean>();
        stream.send(NONE, ByteBuffer.wrap(large()), NONE);
        stream.finish(
            TwoPartFrame.ofBody(stream.allocator(), new byte[] {7}), () -> written.complete(true));
        passTime(FIN_WAIT.multipliedBy(3));
        assertThat(written).isNotDone();

        assertThat(readFrame(requester)).asString(StandardCharsets.UTF_8).contains("\"s\"");
        assertThat(readFrame(requester)).hasSize(large().length);
        assertThat(readFrame(requester)).containsExactly(7);
        assertThat(readFrame(requester)).asString(StandardCharsets.UTF_8).isEqualTo("\"sentinel\"");
        await(written);
        assertThat(requester.getInputStream().read()).as("the worker closes").isEqualTo(-1);
        await(listener.closed);
      }
    }
  }

  @Test
  void aRequesterThatTakesNothingIsGivenUpAlsoAfterTheLastItem() throws Exception {
    try (var home = listen()) {
      var listener = dial(home, Duration.ofMillis(200));
      try (var frozen = home.accept()) {
        assertThat(frozen.isConnected()).isTrue();
        var stream = await(listener.connected);
        var written = new CompletableFuture<Boolean>();
        stream.finish(
            TwoPartFrame.ofBody(stream.allocator(), large()), () -> written.complete(true));
        await(listener.stalled);
        await(written);
        await(listener.closed);
        assertThat(listener.killed).isNotDone();
      }
    }
  }

  @Test
  void aStreamWithNothingToWriteIsNotStalled() throws Exception {
    try (var home = listen()) {
      var listener = dial(home, Duration.ofMillis(50));
      try (var requester = home.accept()) {
        var stream = await(listener.connected);
        passTime(Duration.ofMillis(200));
        assertThat(listener.stalled).isNotDone();
        stream.finish(Unpooled.EMPTY_BUFFER, () -> {});
        readFrame(requester);
        assertThat(readFrame(requester)).asString(StandardCharsets.UTF_8).isEqualTo("\"sentinel\"");
      }
      await(listener.closed);
    }
  }

  @Test
  void aMissingRequesterIsReported() throws Exception {
    var gone = listen();
    var address = (InetSocketAddress) gone.getLocalSocketAddress();
    gone.close();
    var listener = new Listener();
    new CallHomeClient(LOOPS, null, Duration.ofSeconds(5), FIN_WAIT, FIN_WAIT)
        .dial(address, new Handshake("s", Handshake.RESPONSE), listener);
    assertThat(await(listener.failed)).isNotNull();
    assertThat(listener.closed).isNotDone();
  }

  @Test
  void framesOfManyThreadsAreWholeAndThoseOfEachInOrder() throws Exception {
    int threads = 4;
    int each = 2_000;
    try (var home = listen()) {
      var listener = dial(home, Duration.ofSeconds(30));
      try (var requester = home.accept()) {
        var stream = await(listener.connected);
        stream.sendHeader("{}".getBytes(StandardCharsets.US_ASCII));
        for (byte t = 0; t < threads; t++) {
          byte[] head = {t};
          Thread.ofVirtual()
              .start(
                  () -> {
                    for (int i = 0; i < each; i++) {
                      stream.send(head, ByteBuffer.allocate(4).putInt(0, i), new byte[i % 64]);
                    }
                  });
        }
        assertThat(readFrame(requester)).asString(StandardCharsets.UTF_8).contains("\"s\"");
        assertThat(readFrame(requester)).hasSize(2);
        var next = new int[threads];
        for (int i = 0; i < threads * each; i++) {
          var frame = ByteBuffer.wrap(readFrame(requester));
          assertThat(frame.getInt(1)).isEqualTo(next[frame.get(0)]++);
          assertThat(frame.capacity()).isEqualTo(5 + frame.getInt(1) % 64);
        }
        int written = 0;
        while (written < threads * each) {
          var more = listener.written.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
          assertThat(more).as("items written after %d", written).isPositive();
          written += more;
        }
        assertThat(written).isEqualTo(threads * each);
        stream.abort();
      }
      await(listener.closed);
    }
  }
}
