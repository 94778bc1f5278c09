package io.dynamo.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;

/**
 * A request that was sent to Dynamo 1.6.1, and its answer.
 *
 * @param json {@code name}, {@code request}, {@code response} and what the worker got
 */
record Transcript(String name, JsonNode json) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path FOLDER = Path.of("../frontend-war/src/test/resources/golden");
  private static final Pattern CUT = Pattern.compile("<(?:json of )?(\\d+) (?:bytes|characters)>");
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** The transcripts of a group that have a request. */
  static List<Transcript> group(String name) throws IOException {
    var all = new ArrayList<Transcript>();
    for (var each : file(name)) {
      if (each.path("request").has("method")) {
        all.add(new Transcript(each.get("name").asText(), each));
      }
    }
    return all;
  }

  /** All that was captured under a name. */
  static JsonNode file(String name) throws IOException {
    return JSON.readTree(FOLDER.resolve(name + ".json").toFile());
  }

  JsonNode response() {
    return json.get("response");
  }

  int status() {
    return response().get("status").asInt();
  }

  /**
   * The request again, to another server.
   *
   * @param server without a slash at its end
   */
  HttpRequest request(String server) throws IOException {
    var given = json.get("request");
    var body = body(given);
    var request =
        HttpRequest.newBuilder(URI.create(server + given.get("path").asText()))
            .timeout(LIMIT)
            .method(
                given.get("method").asText(),
                body.length == 0 && !given.has("raw_body")
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(body));
    var headers = given.path("headers");
    for (var header : headers.properties()) {
      if (!header.getValue().isNull()) {
        request.header(header.getKey(), whole(header.getValue().asText()));
      }
    }
    if (body.length > 0 && !headers.has("content-type")) {
      request.header("content-type", "application/json");
    }
    return request.build();
  }

  private static byte[] body(JsonNode given) throws IOException {
    if (given.has("raw_body")) {
      var raw = given.get("raw_body").asText();
      return CUT.matcher(raw).matches()
          ? whole(raw).getBytes(StandardCharsets.UTF_8)
          : raw.getBytes(StandardCharsets.ISO_8859_1); // bytes were written as Latin-1
    }
    if (!given.has("body") || given.get("body").isNull()) {
      return new byte[0];
    }
    var body = given.get("body");
    var bytes =
        body.isTextual() && CUT.matcher(body.asText()).matches()
            ? whole(body.asText()).getBytes(StandardCharsets.UTF_8)
            : JSON.writeValueAsBytes(body);
    return given.path("headers").path("content-encoding").asText().equals("gzip")
        ? gzip(bytes)
        : bytes;
  }

  private static byte[] gzip(byte[] bytes) throws IOException {
    var packed = new ByteArrayOutputStream();
    try (var out = new GZIPOutputStream(packed)) {
      out.write(bytes);
    }
    return packed.toByteArray();
  }

  /** A text of the length that was captured without its content. */
  private static String whole(String text) {
    var cut = CUT.matcher(text);
    return cut.matches() ? "x".repeat(Integer.parseInt(cut.group(1))) : text;
  }

  @Override
  public String toString() {
    return name;
  }
}
