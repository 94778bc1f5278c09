package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bodies that would end or starve a server: its heap is 512 MB and it exits when that is full. The
 * model {@link #SLOW} serves one request at a time and takes long for it, {@link #WIDE} has a
 * context of millions of tokens.
 */
@Sampled
class HostileBodiesIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String SLOW = "slow";
  private static final String WIDE = "wide";
  private static final int MEBIBYTE = 1 << 20;
  private static final int STALLED_BYTES = 16 * MEBIBYTE + 100_000;
  private static final int PLACES = 600; // of the server
  private static final int SHORT_WAIT = 200; // milliseconds

  @TempDir static Path folder;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess server;

  private final List<Socket> opened = new ArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  @BeforeAll
  static void start() throws Exception {
    var models = Path.of(System.getProperty("dynamo.it.config")).resolve("models/tiny");
    ServerProcess.copyTree(models, folder);
    var config = folder.resolve("config.json");
    var positions = "\"max_position_embeddings\": *[0-9]+";
    Files.writeString(
        config,
        Files.readString(config).replaceFirst(positions, "\"max_position_embeddings\": 4000000"));
    server =
        ServerProcess.Plan.named("bodies")
            .with("DYNAMO_WORKER_MODELS", String.join(",", Cluster.MODEL, SLOW, WIDE))
            .with("DYNAMO_WORKER_MODELS_WIDE_MODEL_PATH", folder.toString())
            .with("DYNAMO_WORKER_MODELS_SLOW_MODEL_PATH", folder.toString())
            .with("DYNAMO_WORKER_MODELS_SLOW_TOKEN_INTERVAL", "1s")
            .with("DYNAMO_WORKER_BLOCK_TOKENS", "256")
            .with("DYNAMO_WORKER_BLOCKS_PER_RANK", "16384")
            .with("DYNAMO_WORKER_MOCK_PASS_TOKENS", "1000000")
            .with("DYNAMO_WORKER_PREFILL_PER_TOKEN", "0s")
            .with("DYNAMO_WORKER_BLOCK_BYTES", "64B")
            .with("DYNAMO_FRONTEND_MAX_CONCURRENT_REQUESTS", Integer.toString(PLACES))
            .with("DYNAMO_FRONTEND_ADMISSION_MODELS", SLOW + "=1/1000/60s")
            .start()
            .awaitReady();
    Polling.until(
        "all models are served",
        LIMIT,
        () -> {
          var served = server.get("/v1/models").body();
          return served.contains(Cluster.MODEL) && served.contains(SLOW) && served.contains(WIDE);
        });
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void hangUp() throws IOException {
    threads.shutdownNow();
    for (var socket : opened) {
      socket.close();
    }
  }

  private Socket send(String path, int declaredBytes, byte[] part) throws IOException {
    var socket = new Socket();
    opened.add(socket);
    socket.setSoTimeout(SHORT_WAIT);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()), 5_000);
    var head =
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            .formatted(path, declaredBytes);
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().write(part);
    return socket;
  }

  private void stallUploads(int count) throws IOException {
    var part = new byte[STALLED_BYTES];
    Arrays.fill(part, (byte) ' ');
    for (int i = 0; i < count; i++) {
      send("/v1/completions", STALLED_BYTES + 1000, part);
    }
  }

  /** Whether the server has neither answered nor hung up. */
  private static boolean waits(Socket socket) throws IOException {
    try {
      int _ = socket.getInputStream().read();
      return false;
    } catch (SocketTimeoutException nothing) {
      return true;
    }
  }

  private static HttpResponse<String> chat(String model, int chars) throws Exception {
    return server.post(
        "/v1/chat/completions", ChatClient.body(model, "a ".repeat(chars / 2), 1, false));
  }

  private static HttpResponse<String> complete(String model, String prompt) throws Exception {
    return server.post(
        "/v1/completions",
        "{\"model\":\"%s\",\"max_tokens\":1,\"prompt\":\"%s\"}".formatted(model, prompt));
  }

  @Test
  void compressedBodiesAreRefusedOnEveryPath() throws Exception {
    var body = ChatClient.body(Cluster.MODEL, "Hello", 1, false);
    var zipped = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(zipped)) {
      gzip.write(body.getBytes(StandardCharsets.UTF_8));
    }
    var others =
        List.of("/v1/realtime", "/v1/models", "/busy_threshold", "/router/explain", "/live", "/x");
    for (var path : Stream.concat(HostileRoutesIT.ROUTES.stream(), others.stream()).toList()) {
      for (var encoding : List.of("gzip", "x-gzip", "deflate", "br", "identity, gzip")) {
        var answer =
            server.post(
                path,
                HttpRequest.BodyPublishers.ofByteArray(zipped.toByteArray()),
                "content-encoding",
                encoding);
        assertThat(answer.statusCode()).as("%s %s", path, encoding).isEqualTo(415);
        assertThat(answer.body()).contains("Content-Encoding");
      }
    }
    assertThat(
            server.post("/v1/chat/completions", body, "content-encoding", "identity").statusCode())
        .isEqualTo(200);
  }

  @Test
  void promptsWithoutASpaceAreRefusedByTheirLength() throws Exception {
    for (int mebibytes : new int[] {1, 20}) {
      var answer = complete(Cluster.MODEL, "a".repeat(mebibytes * MEBIBYTE));
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(answer.body()).contains("context_length_exceeded", " or more");
    }
    var larger = complete(Cluster.MODEL, "a".repeat(44 * MEBIBYTE));
    assertThat(larger.statusCode()).isEqualTo(413);
    assertThat(larger.body()).contains("bytes of memory");
  }

  /** Short texts that become 40 times their bytes in memory, inside strings of the body. */
  @Test
  void argumentsOfToolCallsAreChargedWithWhatTheyBecome() throws Exception {
    var arguments = "{\\\"a\\\":[" + "{},".repeat(200_000) + "{}]}";
    var call =
        "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\""
            + arguments
            + "\"}}";
    var calls = String.join(",", Collections.nCopies(40, call));
    var answer =
        server.post(
            "/v1/chat/completions",
            "{\"model\":\"%s\",\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[%s]}]}"
                .formatted(WIDE, calls));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(413);
    assertThat(answer.body()).contains("bytes of memory");
    assertThat(chat(Cluster.MODEL, 10).statusCode()).isEqualTo(200);
  }

  @Test
  void uploadsWithoutABytePassTheirPlacesOn() throws Exception {
    for (int i = 0; i < PLACES; i++) {
      send("/v1/chat/completions", 1000, new byte[0]);
    }
    for (int i = 0; i < 50; i++) {
      Polling.until( // long before the upload timeout of 60 s
          "others are let in",
          Duration.ofSeconds(20),
          () -> chat(Cluster.MODEL, 10).statusCode() == 200);
    }
  }

  @Test
  void stalledUploadsYieldToSmallAndLargeRequests() throws Exception {
    stallUploads(12);
    assertThat(chat(Cluster.MODEL, 10).statusCode()).isEqualTo(200);
    assertThat(chat(WIDE, 100_000).statusCode()).isEqualTo(200);
    assertThat(chat(WIDE, 3 * MEBIBYTE).statusCode()).isNotIn(413, 429, 503);
  }

  @Test
  void bodiesThatDoNotComeHoldNoThreadOfThePoolAndLeaveNoTraces() throws Exception {
    var stalled = new ArrayList<Socket>();
    for (int i = 0; i < 200; i++) {
      stalled.add(send("/busy_threshold", 1000, new byte[] {'{'}));
    }
    assertThat(chat(Cluster.MODEL, 10).statusCode()).isEqualTo(200);
    assertThat(waits(stalled.getFirst())).as("the first of them still waits").isTrue();
    hangUp();
    Polling.until(
        "their ends are noticed", LIMIT, () -> server.get("/busy_threshold").statusCode() == 200);
    assertThat(server.messages()).doesNotContain("SRVE0777E");
  }

  /** Uploads, waiting requests, long pieces of prompts and small requests, all at their bounds. */
  @Test
  void everyAreaOfMemoryMayBeFullAtOnce() throws Exception {
    try (var inside = server.chat(ChatClient.body(SLOW, "Hello", 1000, true))) {
      assertThat(inside.status()).isEqualTo(200);
      stallUploads(12);
      var waiting = new ArrayList<Future<Integer>>();
      for (int i = 0; i < 60; i++) {
        waiting.add(threads.submit(() -> chat(SLOW, 2 * MEBIBYTE).statusCode()));
      }
      var pieces = new ArrayList<Future<Integer>>();
      for (int i = 0; i < 6; i++) {
        int mebibytes = 2 + i;
        pieces.add(
            threads.submit(() -> complete(WIDE, "b".repeat(mebibytes * MEBIBYTE)).statusCode()));
      }
      stallUploads(4);
      var small = new ArrayList<Future<Integer>>();
      for (int i = 0; i < 200; i++) {
        small.add(threads.submit(() -> chat(Cluster.MODEL, 1000).statusCode()));
      }
      for (var answer : small) {
        assertThat(answer.get()).isEqualTo(200);
      }
      for (var answer : pieces) {
        assertThat(answer.get()).isIn(200, 400, 413, 503);
      }
      Polling.until(
          "the area of those that wait is full",
          LIMIT,
          () -> waiting.stream().anyMatch(it -> it.isDone() && it.resultNow() == 429));
    }
    assertThat(server.isAlive()).isTrue();
    hangUp();
    assertThat(chat(Cluster.MODEL, 10).statusCode()).isEqualTo(200);
    Polling.until("room comes back", LIMIT, () -> chat(WIDE, 3 * MEBIBYTE).statusCode() != 503);
  }
}
