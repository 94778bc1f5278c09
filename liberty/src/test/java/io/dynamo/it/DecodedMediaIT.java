package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Images that our frontend decodes, read over NIXL by workers on Dynamo's runtime with NVIDIA's
 * {@code dynamo.nixl_connect}: the same pixels, also for the worker that a request moves to, and
 * memory that is free when the request has ended. Left out where the Python environment that {@code
 * -Ddynamo.it.peer} names is.
 */
@ManyServers
@Sampled
class DecodedMediaIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String HELD = "dynamo_frontend_media_decoded_bytes";

  @TempDir static Path store;
  @TempDir static Path models;
  @TempDir static Path orders;

  private static final List<PeerProcess> workers = new ArrayList<>();
  private static ServerProcess server;

  @BeforeAll
  static void start() throws Exception {
    var model = VisionModel.write(models.resolve("vl"));
    for (var name : List.of("pixels-first", "pixels-second")) {
      workers.add(
          PeerProcess.script(name, store, "pixel_worker.py", model.toString(), orders.toString()));
    }
    server =
        ServerProcess.Plan.named("pixels-frontend")
            .roles("frontend")
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            .with("DYN_MIGRATION_LIMIT", "2")
            .with("DYNAMO_TRANSFER_NIXL_LIBRARY", packages().toString())
            .with("DYNAMO_FRONTEND_MEDIA_NIXL_BYTES", "1MiB")
            .start();
    Polling.until(
        "ours lists the model",
        LIMIT,
        () -> server.get("/v1/models").body().contains("\"pixels\""));
    Polling.until("images are decoded", LIMIT, () -> seen(image("png", 8, 8)).has("shape"));
  }

  private static Path packages() throws IOException {
    var lib = Path.of(System.getProperty("dynamo.it.peer"), "lib");
    try (var pythons = Files.newDirectoryStream(lib, "python3*")) {
      return pythons.iterator().next().resolve("site-packages");
    }
  }

  @AfterAll
  static void stop() throws Exception {
    if (server != null) {
      server.close();
    }
    for (var worker : workers) {
      worker.close();
    }
  }

  private static byte[] image(String format, int width, int height) throws IOException {
    var random = new Random(31L * width + height);
    var image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        image.setRGB(x, y, random.nextInt());
      }
    }
    var out = new ByteArrayOutputStream();
    assertThat(ImageIO.write(image, format, out)).isTrue();
    return out.toByteArray();
  }

  /** The checksum of an image's rows, as the JDK shows them. */
  private static long sum(byte[] file) throws IOException {
    var image = ImageIO.read(new ByteArrayInputStream(file));
    var sum = new CRC32();
    for (int y = 0; y < image.getHeight(); y++) {
      for (int x = 0; x < image.getWidth(); x++) {
        int rgb = image.getRGB(x, y);
        sum.update(rgb >> 16);
        sum.update(rgb >> 8);
        sum.update(rgb);
      }
    }
    return sum.getValue();
  }

  private static HttpRequest request(byte[]... images) throws IOException {
    var parts = new ArrayList<Map<String, Object>>();
    parts.add(Map.of("type", "text", "text", "What is this?"));
    for (var image : images) {
      var url = "data:image/png;base64," + Base64.getEncoder().encodeToString(image);
      parts.add(Map.of("type", "image_url", "image_url", Map.of("url", url)));
    }
    var body =
        Map.of(
            "model",
            "pixels",
            "messages",
            List.of(Map.of("role", "user", "content", parts)),
            "max_tokens",
            4);
    return HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + server.port() + "/v1/chat/completions"))
        .timeout(LIMIT)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)))
        .build();
  }

  private static List<String> lines(String word) {
    return workers.stream()
        .flatMap(worker -> worker.console().lines())
        .filter(line -> line.startsWith(word))
        .toList();
  }

  private static JsonNode seen(byte[] image) throws Exception {
    return seen(new byte[][] {image}).get(0);
  }

  /** Sends images and returns what the worker saw of them. */
  private static JsonNode seen(byte[][] images) throws Exception {
    var before = lines("SEEN ");
    var answer = HTTP.send(request(images), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    Polling.until("a worker prints it", LIMIT, () -> lines("SEEN ").size() > before.size());
    var all = new ArrayList<>(lines("SEEN "));
    before.forEach(all::remove);
    return JSON.readTree(all.getFirst().substring("SEEN ".length()));
  }

  private static long held() throws IOException, InterruptedException {
    return server
        .get("/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith(HELD))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .findFirst()
        .orElseThrow();
  }

  private static void requireFree() throws Exception {
    Polling.until("the memory of images is free", LIMIT, () -> held() == 0);
  }

  private static void requireSame(JsonNode seen, byte[] image, int width, int height)
      throws IOException {
    assertThat(seen.get("shape")).isEqualTo(JSON.readTree("[%d,%d,3]".formatted(height, width)));
    assertThat(seen.get("sum").asLong()).isEqualTo(sum(image));
  }

  @Test
  void workersReadThePixels() throws Exception {
    for (var format : List.of("png", "jpg", "bmp")) {
      var image = image(format, 301, 97);
      requireSame(seen(image), image, 301, 97);
    }
    requireFree();
  }

  @Test
  void workersReadManyImagesOfARequestAtOnce() throws Exception {
    var images = new byte[12][];
    for (int i = 0; i < images.length; i++) {
      images[i] = image("png", 200 + i, 120);
    }
    var seen = seen(images);
    assertThat(seen).hasSize(images.length);
    for (int i = 0; i < images.length; i++) {
      requireSame(seen.get(i), images[i], 200 + i, 120);
    }
    requireFree();
  }

  @Test
  void imagesThatFindNoRoomGoAsTheyAreStored() throws Exception {
    var image = image("bmp", 500, 500);
    var seen = seen(new byte[][] {image, image});
    assertThat(Stream.of(seen.get(0), seen.get(1)).filter(it -> it.has("shape"))).hasSize(1);
    assertThat(seen.toString()).contains("{\"other\":[\"Url\"]}");
    requireFree();
  }

  @Test
  void theWorkerThatARequestMovesToReadsThem() throws Exception {
    var image = image("png", 64, 48);
    int lost = lines("LOST").size();
    Files.createFile(orders.resolve("lose"));
    requireSame(seen(image), image, 64, 48);
    assertThat(lines("LOST")).hasSize(lost + 1);
    requireFree();
    workers.add(
        PeerProcess.script(
            "pixels-third",
            store,
            "pixel_worker.py",
            models.resolve("vl").toString(),
            orders.toString()));
  }

  @Test
  void memoryIsKeptWhileAWorkerIsSlowAndFreeWhenTheClientLeaves() throws Exception {
    int begun = lines("BEGUN").size();
    var hold = Files.createFile(orders.resolve("hold"));
    try (var client = HttpClient.newHttpClient()) {
      var answer =
          client.sendAsync(request(image("png", 100, 100)), HttpResponse.BodyHandlers.ofString());
      Polling.until("a worker has it", LIMIT, () -> lines("BEGUN").size() > begun);
      assertThat(held()).isGreaterThanOrEqualTo(30_000);
      client.shutdownNow();
      requireFree();
      assertThat(answer).isCompletedExceptionally();
    } finally {
      Files.delete(hold);
    }
  }

  @Test
  void damagedImagesAreRefused() throws Exception {
    var image = image("png", 100, 100);
    var cut = Arrays.copyOf(image, image.length / 2);
    var answer = HTTP.send(request(cut), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
    assertThat(answer.body()).contains("invalid_media", "damaged");
    requireFree();
  }
}
