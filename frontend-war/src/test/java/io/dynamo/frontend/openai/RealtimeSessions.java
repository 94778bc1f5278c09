package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.concurrent.Execution;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.metrics.Label;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Realtime sessions over a real connection, with a scripted worker behind them. */
abstract class RealtimeSessions {
  static final ObjectMapper JSON = new ObjectMapper();
  static final int LIMIT_MILLIS = 60_000;
  static final String UPDATE =
      "{\"type\":\"session.update\",\"event_id\":\"u1\",\"session\":{\"type\":\"realtime\",\"model\":\"script\"}}";

  final FrontendFixture frontend = new FrontendFixture();
  final ScriptedTalk worker = new ScriptedTalk();
  final Queue<Thread> started = new ConcurrentLinkedQueue<>();
  final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(
          task -> {
            var thread = Thread.ofVirtual().unstarted(task);
            started.add(thread);
            return thread;
          });
  final LookingTimer timer = new LookingTimer();
  final RealtimeService service =
      new RealtimeService(
          new EdgeRules(FrontendFixture.NO_RULES),
          new TextService.Gate(
              frontend.admission,
              frontend.watcher,
              new RequestWatch.WatchFactory(frontend.stages, false)),
          frontend,
          worker,
          new Execution(threads, timer, InstantSource.system()));
  Runnable closer = () -> {}; // what else closing a connection does
  Socket client = new Socket();
  DataInputStream in = new DataInputStream(InputStream.nullInputStream());

  @BeforeEach
  void serveSessions() {
    frontend.modelTypes = Set.of("Realtime");
    frontend.modelInput = "Text";
  }

  @AfterEach
  void everySessionHasEnded() throws Exception {
    client.close();
    awaitEnd();
    threads.shutdown();
    timer.shutdownNow();
    assertThat(frontend.bodies.heldBytes()).isZero();
    frontend.closeIdle();
  }

  /** Begins a session, and reads its first event. */
  void connect(String queryModel) throws IOException {
    try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var session = admitted(queryModel);
      client = new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort());
      client.setSoTimeout(LIMIT_MILLIS);
      in = new DataInputStream(client.getInputStream());
      var served = listener.accept();
      service.start(
          session,
          new RealtimeSession.Socket(
              served.getInputStream(),
              served.getOutputStream(),
              () -> {
                close(served);
                closer.run();
              }));
    }
    assertThat(event().path("type").asText()).isEqualTo("session.created");
  }

  RealtimeSession admitted(String queryModel) {
    return service.admit(
        new IncomingRequest(
            null,
            -1,
            Map.of(),
            IncomingRequest.NO_CONNECTION,
            FrontendFixture.CLIENT,
            InputStream.nullInputStream()),
        queryModel);
  }

  void awaitEnd() {
    await("no session is under way", () -> frontend.admission.admitted() == 0);
  }

  static void await(String what, BooleanSupplier condition) {
    long since = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - since)
          .as(what)
          .isLessThan(TimeUnit.MILLISECONDS.toNanos(LIMIT_MILLIS));
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Whether a thread of a session is in a method of {@code type}. */
  boolean isIn(Class<?> type, String method) {
    return started.stream()
        .flatMap(thread -> Arrays.stream(thread.getStackTrace()))
        .anyMatch(
            frame ->
                frame.getClassName().equals(type.getName())
                    && frame.getMethodName().equals(method));
  }

  /** Whether a thread of a session waits for the monitor's notice in a method of {@code type}. */
  boolean isWaitingIn(Class<?> type, String method) {
    for (var thread : started) {
      var before = "";
      for (var frame : thread.getStackTrace()) {
        if (frame.getClassName().equals(type.getName()) && frame.getMethodName().equals(method)) {
          return before.equals(Object.class.getName());
        }
        before = frame.getClassName();
      }
    }
    return false;
  }

  static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  void connectAndChoose() throws Exception {
    connect("");
    send(UPDATE);
    assertThat(worker.heard.poll(60, TimeUnit.SECONDS)).isInstanceOf(Map.class);
  }

  void send(String text) throws IOException {
    frame(0x81, text.getBytes(StandardCharsets.UTF_8));
  }

  void frame(int first, byte[] payload) throws IOException {
    var out = new ByteArrayOutputStream();
    out.write(first);
    if (payload.length < 126) {
      out.write(0x80 | payload.length);
    } else if (payload.length < 1 << 16) {
      out.write(0xFE);
      out.write(payload.length >> 8);
      out.write(payload.length);
    } else {
      out.write(0xFF);
      for (int i = 7; i >= 0; i--) {
        out.write((int) ((long) payload.length >> (8 * i)));
      }
    }
    out.write(new byte[4]);
    out.write(payload);
    client.getOutputStream().write(out.toByteArray());
  }

  String frame(int expected) throws IOException {
    assertThat(in.readUnsignedByte()).isEqualTo(expected);
    int length = in.readUnsignedByte();
    length = length == 126 ? in.readUnsignedShort() : length == 127 ? (int) in.readLong() : length;
    return new String(in.readNBytes(length), StandardCharsets.ISO_8859_1);
  }

  JsonNode event() throws IOException {
    return JSON.readTree(frame(0x81));
  }

  String closed() throws IOException {
    var payload = frame(0x88);
    return ((payload.charAt(0) << 8) + payload.charAt(1)) + " " + payload.substring(2);
  }

  long counted(String status) {
    return frontend
        .metrics
        .counter(
            FrontendMetrics.REQUESTS,
            new Label("model", "script"),
            new Label("endpoint", "realtime"),
            new Label("request_type", "stream"),
            new Label("status", status),
            new Label("error_type", status.equals("success") ? "" : "internal"))
        .value();
  }

  /** A timer whose repeated task runs when a test has it run. */
  static final class LookingTimer extends ScheduledThreadPoolExecutor {
    private volatile Runnable look = () -> {};

    LookingTimer() {
      super(1);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(
        Runnable task, long initialDelay, long delay, TimeUnit unit) {
      look = task;
      return super.scheduleWithFixedDelay(() -> {}, initialDelay, delay, unit);
    }

    void look() {
      look.run();
    }
  }
}
