package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files and batches on real servers: by the SDKs, after a kill, and switched off. */
@Sampled
class BatchesIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int LINES = 300;
  private static final String ENABLED = "DYNAMO_FRONTEND_BATCHES_ENABLED";

  @TempDir Path folder;

  private static HttpResponse<String> send(
      ServerProcess server, String method, String path, String type, String body)
      throws IOException, InterruptedException {
    try (var http = HttpClient.newHttpClient()) {
      return http.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
              .timeout(Duration.ofMinutes(1))
              .header("content-type", type)
              .method(
                  method,
                  body.isEmpty()
                      ? HttpRequest.BodyPublishers.noBody()
                      : HttpRequest.BodyPublishers.ofString(body))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }

  private static JsonNode json(HttpResponse<String> answer) throws IOException {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }

  private static String upload(ServerProcess server, String lines) throws Exception {
    var form =
        "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n"
            + "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n"
            + lines
            + "\r\n--b--\r\n";
    return json(send(server, "POST", "/v1/files", "multipart/form-data; boundary=b", form))
        .get("id")
        .asText();
  }

  /** The batch; an empty object while its database does not answer. */
  private static JsonNode batch(ServerProcess server, String id) {
    try {
      var answer = send(server, "GET", "/v1/batches/" + id, "application/json", "");
      return answer.statusCode() == 503 ? JSON.createObjectNode() : json(answer);
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String content(ServerProcess server, String file) {
    try {
      return send(server, "GET", "/v1/files/" + file + "/content", "application/json", "").body();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void sdksAreServed() throws Exception {
    try (var server = ServerProcess.Plan.named("batches").start().awaitReady()) { // by default
      var url = "http://127.0.0.1:" + server.port();
      SdkScript.python("openai_batches.py").run(folder, url);
      SdkScript.node("openai-batches.mjs").run(folder, url);
    }
  }

  @Test
  void batchGoesOnAfterTheServerWasKilled() throws Exception {
    var plan =
        ServerProcess.Plan.named("batches-kill")
            .with("DYNAMO_FRONTEND_RESPONSES_FOLDER", folder.resolve("database").toString())
            .with("DYNAMO_FRONTEND_BATCHES_CONCURRENCY", "2");
    var lines =
        IntStream.range(0, LINES)
            .mapToObj(
                i ->
                    """
                    {"custom_id":"l%d","method":"POST","url":"/v1/chat/completions","body":\
                    {"model":"%s","messages":[{"role":"user","content":"Hello"}],"max_tokens":16}}
                    """
                        .formatted(i, Cluster.MODEL))
            .collect(Collectors.joining());
    String id;
    try (var first = plan.start().awaitReady()) {
      var file = upload(first, lines);
      id =
          json(send(
                  first,
                  "POST",
                  "/v1/batches",
                  "application/json",
                  "{\"input_file_id\":\"%s\",\"endpoint\":\"/v1/chat/completions\",\"completion_window\":\"24h\"}"
                      .formatted(file)))
              .get("id")
              .asText();
      Polling.until(
          "the batch runs",
          PATIENCE,
          () -> !batch(first, id).path("status").asText("validating").equals("validating"));
      first.kill();
    }
    try (var second = plan.start().awaitReady()) {
      Polling.until(
          "the batch has ended",
          PATIENCE,
          () -> batch(second, id).path("status").asText().equals("completed"));
      var done = batch(second, id);
      assertThat(done.at("/request_counts/completed").asInt())
          .as(() -> content(second, done.get("error_file_id").asText()))
          .isEqualTo(LINES);
      var names = new TreeSet<String>();
      var output = content(second, done.get("output_file_id").asText());
      assertThat(output.lines()).hasSize(LINES);
      for (var line : output.lines().toList()) {
        names.add(JSON.readTree(line).get("custom_id").asText());
      }
      assertThat(names).hasSize(LINES);
    }
  }

  private static Socket connect(ServerProcess server) throws IOException {
    var socket = new Socket();
    socket.setReceiveBufferSize(4096);
    socket.setSoTimeout((int) PATIENCE.toMillis());
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()), 5_000);
    return socket;
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().flush();
  }

  /** The status of a short chat. */
  private static int chat(ServerProcess server) {
    var body =
        "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":2}"
            .formatted(Cluster.MODEL);
    try {
      return send(server, "POST", "/v1/chat/completions", "application/json", body).statusCode();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sends some bytes and a chat; returns whether the upload was answered. */
  private static boolean isAnswered(ServerProcess server, Socket uploader) {
    try {
      if (uploader.getInputStream().available() == 0) {
        write(uploader, "x".repeat(64));
        chat(server);
      }
      return uploader.getInputStream().available() > 0;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void slowUploadsAndDownloadsLoseTheirPlacesToNewRequests() throws Exception {
    try (var server =
            ServerProcess.Plan.named("batches-slow")
                .with("DYNAMO_FRONTEND_MAX_CONCURRENT_REQUESTS", "1")
                .start()
                .awaitReady();
        var uploader = connect(server);
        var downloader = connect(server)) {
      var file = upload(server, "x".repeat(16 << 20)); // more than the sockets hold
      write(
          uploader,
          """
          POST /v1/files HTTP/1.1
          Host: localhost
          Content-Length: 1000000
          Content-Type: multipart/form-data; boundary=b

          --b
          Content-Disposition: form-data; name="file"; filename="a"

          """
              .replace("\n", "\r\n"));
      Polling.until(
          "a chat takes the place of the upload", PATIENCE, () -> isAnswered(server, uploader));
      assertThat(new String(uploader.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 503");

      write(downloader, "GET /v1/files/" + file + "/content HTTP/1.1\r\nHost: localhost\r\n\r\n");
      assertThat(new String(downloader.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 200");
      Polling.until("a chat takes the place of the download", PATIENCE, () -> chat(server) == 200);
      assertThat(readToItsEnd(downloader)).isLessThan(16 << 20);
    }
  }

  private static long readToItsEnd(Socket socket) {
    long count = 0;
    try {
      var part = new byte[64 * 1024];
      for (int read = 0; read >= 0; read = socket.getInputStream().read(part)) {
        count += read;
      }
    } catch (SocketException broken) {
      // as it breaks off
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return count;
  }

  @Test
  void switchedOffThereAreNoRoutes() throws Exception {
    try (var server =
        ServerProcess.Plan.named("batches-off").with(ENABLED, "false").start().awaitReady()) {
      for (var path : List.of("/v1/files", "/v1/batches", "/v1/files/a", "/v1/files/a/content")) {
        var answer = send(server, "GET", path, "application/json", "");
        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(answer.body()).contains("Route not found: GET " + path);
      }
    }
  }
}
