package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Images and sounds in prompts: what workers on Dynamo's runtime get of them behind our frontend
 * and behind Dynamo's, and where requests with images go among our workers.
 */
@ManyServers
@Sampled
class MediaIT {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String VISION = "vision";
  private static final String TEXT =
      "Describe the picture in a few words, and say which colours there are in it.";

  @TempDir static Path store;
  @TempDir static Path models;
  @TempDir Path folder;

  private static final List<String> fetched = new CopyOnWriteArrayList<>();
  private static HttpServer pictures;
  private static PeerProcess scripted;
  private static PeerProcess theirs;
  private static ServerProcess first;
  private static ServerProcess second;

  @BeforeAll
  static void start() throws Exception {
    pictures = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    pictures.createContext(
        "/",
        exchange -> {
          fetched.add(exchange.getRequestURI().getPath());
          var body = picture(exchange.getRequestURI().getPath().hashCode() & 0xffffff, 56);
          boolean known = exchange.getRequestURI().getPath().endsWith(".png");
          boolean part = exchange.getRequestHeaders().containsKey("Range"); // all are short
          exchange.getResponseHeaders().add("Content-Type", "image/png");
          exchange.sendResponseHeaders(known ? part ? 206 : 200 : 404, known ? body.length : -1);
          if (known) {
            exchange.getResponseBody().write(body);
          }
          exchange.close();
        });
    pictures.start();
    var model = VisionModel.write(models.resolve("vl"));
    scripted = PeerProcess.script("media-worker", store, "media_worker.py", model.toString());
    theirs =
        PeerProcess.frontend(
            "media-theirs", store, Map.of("DYN_MM_ALLOW_INTERNAL", "1"), "--router-mode", "kv");
    first = server("media-first", model).with("DYN_MM_ALLOW_INTERNAL", "1").start();
    second = server("media-second", model).with("DYNAMO_FRONTEND_MEDIA_FETCH", "always").start();
    first.awaitReady();
    second.awaitReady();
    for (var name : List.of("plain", "decoding", VISION)) {
      Polling.until("ours list " + name, LIMIT, () -> lists(first, name) && lists(second, name));
    }
    for (var name : List.of("plain", VISION)) {
      Polling.until("Dynamo's frontend lists " + name, LIMIT, () -> theirs.lists(name));
    }
  }

  private static ServerProcess.Plan server(String name, Path model) throws IOException {
    return ServerProcess.Plan.named(name)
        .with("DYN_DISCOVERY_BACKEND", "file")
        .with("DYN_FILE_KV", store.toString())
        .with("DYN_SYSTEM_PORT", Integer.toString(ServerProcess.freePort()))
        .with("DYNAMO_WORKER_MODEL_PATH", model.toString())
        .with("DYNAMO_WORKER_MODEL_NAME", VISION);
  }

  @AfterAll
  static void stop() {
    for (var process : new AutoCloseable[] {second, first, theirs, scripted}) {
      try {
        if (process != null) {
          process.close();
        }
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
    if (pictures != null) {
      pictures.stop(0);
    }
  }

  private static boolean lists(ServerProcess server, String model)
      throws IOException, InterruptedException {
    return server.get("/v1/models").body().contains('"' + model + '"');
  }

  private static byte[] picture(int colour, int side) throws IOException {
    var image = new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB);
    image.setRGB(0, 0, colour);
    var out = new ByteArrayOutputStream();
    ImageIO.write(image, "png", out);
    return out.toByteArray();
  }

  private static String inline(int colour) throws IOException {
    return "data:image/png;base64," + base64(picture(colour, 56));
  }

  private static String base64(byte[] picture) {
    return Base64.getEncoder().encodeToString(picture);
  }

  private static String address(String path) {
    return "http://127.0.0.1:" + pictures.getAddress().getPort() + path;
  }

  private static Map<String, Object> part(String type, String url) {
    return Map.of("type", type, type, Map.of("url", url));
  }

  private static final Map<String, Object> WORDS = Map.of("type", "text", "text", TEXT);

  private static String body(String model, List<?> content) throws IOException {
    var body = new LinkedHashMap<String, Object>();
    body.put("model", model);
    body.put("messages", List.of(Map.of("role", "user", "content", content)));
    body.put("max_tokens", 4);
    body.put("nvext", Map.of("extra_fields", List.of("worker_id")));
    return JSON.writeValueAsString(body);
  }

  private static HttpResponse<String> ask(int port, String body)
      throws IOException, InterruptedException {
    return HTTP.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/chat/completions"))
            .timeout(LIMIT)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** Sends a request and returns it as the scripted worker gets it. */
  private static JsonNode received(int port, String body) throws Exception {
    var before = requests().size();
    var answer = ask(port, body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    Polling.until("the worker prints the request", LIMIT, () -> requests().size() > before);
    return JSON.readTree(requests().get(before));
  }

  private static List<String> requests() {
    return scripted
        .console()
        .lines()
        .filter(line -> line.startsWith("REQUEST "))
        .map(line -> line.substring("REQUEST ".length()))
        .toList();
  }

  static Stream<List<Map<String, Object>>> contents() throws IOException {
    var named = new LinkedHashMap<>(part("image_url", address("/named.png")));
    named.put("uuid", "picture-1");
    return Stream.of(
        List.of(WORDS, part("image_url", inline(0xff0000))),
        List.of(WORDS, part("image_url", address("/red.png"))),
        List.of(part("image_url", address("/red.png")), WORDS, part("image_url", inline(0xff))),
        List.of(WORDS, part("image_url", address("/missing"))),
        List.of(WORDS, part("image_url", "data:image/png;base64,AAAA")),
        List.of(WORDS, part("audio_url", address("/sound.wav"))),
        List.of(WORDS, part("audio_url", address("/sound.wav")), part("image_url", inline(2))),
        List.of(Map.of("type", "text", "text", "<|image_pad|>"), part("image_url", inline(3))),
        List.of(WORDS, part("video_url", address("/film.mp4")), part("image_url", inline(1))),
        List.of(WORDS, named));
  }

  @ParameterizedTest
  @MethodSource("contents")
  void workersGetTheSameBehindBothFrontends(List<Map<String, Object>> content) throws Exception {
    var body = body("plain", content);
    var ours = received(first.port(), body);
    var other = received(theirs.port(), body);

    for (var field :
        List.of("token_ids", "multi_modal_data", "multi_modal_uuids", "mm_routing_info")) {
      assertThat(ours.get(field)).as(field).isEqualTo(other.get(field));
    }
    for (var field : List.of("mm_hashes", "formatted_prompt")) {
      assertThat(ours.at("/extra_args/" + field))
          .as(field)
          .isEqualTo(other.at("/extra_args/" + field));
    }
  }

  @Test
  void anthropicsSdkForPythonSendsImages() throws Exception {
    workerGetsTheImageOf(SdkScript.python("anthropic_image.py"));
  }

  @Test
  void anthropicsSdkForNodeSendsImages() throws Exception {
    workerGetsTheImageOf(SdkScript.node("anthropic-image.mjs", "@anthropic-ai/sdk"));
  }

  /** Two requests of a program reach the worker as that of a chat with the same image does. */
  private void workerGetsTheImageOf(SdkScript program) throws Exception {
    var chat = received(first.port(), body("plain", List.of(part("image_url", inline(5)), WORDS)));
    int before = requests().size();

    program.run(
        folder, first.uri("").toString(), TEXT, base64(picture(5, 56)), base64(picture(5, 101)));

    Polling.until("the worker prints both", LIMIT, () -> requests().size() >= before + 2);
    assertThat(requests()).hasSize(before + 2);
    for (var request : requests().subList(before, before + 2)) {
      var sent = JSON.readTree(request);
      assertThat(sent.get("token_ids")).isEqualTo(chat.get("token_ids"));
      assertThat(sent.get("multi_modal_data")).isEqualTo(chat.get("multi_modal_data"));
      assertThat(sent.at("/multi_modal_data/image_url")).hasSize(1);
    }
  }

  @Test
  void imagesAreFetchedForACardWithADecoder() throws Exception {
    var ours =
        received(
            first.port(),
            body("decoding", List.of(WORDS, part("image_url", address("/blue.png")))));

    assertThat(ours.at("/multi_modal_data/image_url/0/Url").asText())
        .isEqualTo(
            "data:image/png;base64," + base64(picture("/blue.png".hashCode() & 0xffffff, 56)));
    assertThat(ours.at("/extra_args/mm_hashes")).hasSize(1);
    assertThat(ours.at("/extra_args/messages/0/content/1/image_url/url").asText())
        .isEqualTo(address("/blue.png"));
  }

  @Test
  void imagesThatACardForbidsAreRefusedWithTheirPart() throws Exception {
    var wide = "data:image/png;base64," + base64(picture(0, 101));
    for (var url : List.of(wide, address("/missing"), "data:text/plain,hello")) {
      var answer = ask(first.port(), body("decoding", List.of(WORDS, part("image_url", url))));

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
      var error = JSON.readTree(answer.body()).get("error");
      assertThat(error.get("code").asText()).isEqualTo("invalid_media");
      assertThat(error.get("param").asText()).isEqualTo("messages[0].content[1].image_url.url");
    }
  }

  @Test
  void nothingIsFetchedFromInside() throws Exception {
    for (var url :
        List.of(
            address("/secret.png"),
            "http://localhost:" + pictures.getAddress().getPort() + "/secret.png",
            "http://169.254.169.254/latest/meta-data/secret.png",
            "http://2130706433/secret.png",
            "http://[::1]/secret.png")) {
      var answer = ask(second.port(), body(VISION, List.of(WORDS, part("image_url", url))));

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
      assertThat(answer.body()).contains("invalid_media");
    }
    assertThat(fetched).doesNotContain("/secret.png");
  }

  @Test
  void requestsGoWhereTheirImageIsCached() throws Exception {
    var images = new ArrayList<String>();
    for (int colour = 0x10; colour < 0x13; colour++) {
      images.add(body(VISION, List.of(part("image_url", inline(colour)), WORDS)).replace("\n", ""));
    }
    var all = RoutedChat.probe(first.uri(""), images.getFirst()).overlaps();
    var byWorker = new LinkedHashMap<String, RoutedChat.Rank>();
    all.keySet().forEach(rank -> byWorker.putIfAbsent(rank.worker(), rank));
    assertThat(byWorker).hasSize(2);
    var ranks = List.copyOf(byWorker.values());
    for (int i = 0; i < 2; i++) {
      RoutedChat.ask(first.uri(""), images.get(i), ranks.get(i));
    }
    for (int i = 0; i < 2; i++) {
      var image = images.get(i);
      var holder = ranks.get(i);
      Polling.until(
          "the router knows of the image",
          LIMIT,
          () -> RoutedChat.probe(first.uri(""), image).overlaps().getOrDefault(holder, 0) > 0);
      var again = RoutedChat.ask(first.uri(""), image);
      assertThat(again.chosen()).isEqualTo(holder);
      assertThat(again.cachedTokens()).isPositive().isEqualTo(again.believedTokens());
      assertThat(again.overlaps().get(ranks.get(1 - i)))
          .as("the other image at the same text is no hit")
          .isZero();
    }
    assertThat(RoutedChat.probe(first.uri(""), images.get(2)).overlaps().values()).containsOnly(0);
    for (int i = 0; i < 2; i++) {
      var image = images.get(i);
      var holder = ranks.get(i).worker();
      Polling.until(
          "Dynamo's router sends it there",
          LIMIT,
          () ->
              JSON.readTree(ask(theirs.port(), image).body())
                  .at("/nvext/worker_id/decode_worker_id")
                  .asText()
                  .equals(holder));
    }
  }
}
