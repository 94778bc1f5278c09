package io.dynamo.cli;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.net.PemTrust;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Asks one server over HTTP. Safe for concurrent use. */
final class ServerClient {
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration ANSWER = Duration.ofSeconds(30);
  private static final Duration GENERATION = Duration.ofMinutes(10);
  private static final String REMEDY = "start one with dynamo serve, or name another with --url";
  private static final long MOST_BYTES = 16 << 20; // of an answer that is read as a whole

  private final URI server;
  private final HttpClient http;
  private final @Nullable String key;
  private final String remedy;

  /** An answer of any status. */
  record Answer(int status, String text) {}

  /**
   * @param authorities PEM certificates to trust; null for those of the JDK
   */
  ServerClient(URI server, @Nullable Path authorities) {
    this(server, authorities, null, REMEDY);
  }

  /**
   * @param key sent as bearer key with each request; null sends none
   * @param remedy what to do when no server answers
   */
  ServerClient(URI server, @Nullable Path authorities, @Nullable String key, String remedy) {
    this.server = server;
    this.key = key;
    this.remedy = remedy;
    var builder =
        HttpClient.newBuilder().connectTimeout(CONNECT).version(HttpClient.Version.HTTP_1_1);
    this.http =
        authorities == null ? builder.build() : builder.sslContext(trusting(authorities)).build();
  }

  private static SSLContext trusting(Path authorities) {
    try {
      return PemTrust.context(authorities);
    } catch (IOException e) {
      throw new RefusedException(
          "the certificates in %s cannot be used: %s; name a PEM file".formatted(authorities, e));
    }
  }

  URI server() {
    return server;
  }

  /**
   * Asks for an object.
   *
   * @throws RefusedException when the status is not 200
   */
  JsonObject object(String path) {
    return Json.readObject(text(path).getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Asks for a text.
   *
   * @throws RefusedException when the status is not 200
   */
  String text(String path) {
    var answer = get(path);
    if (answer.status() != 200) {
      throw refusal(path, answer.status(), answer.text());
    }
    return answer.text();
  }

  /** Asks for a text and returns answers of any status. */
  Answer get(String path) {
    var body = BodyHandlers.limiting(BodyHandlers.ofString(), MOST_BYTES);
    var answer = send(request(path, ANSWER).GET().build(), body);
    return new Answer(answer.statusCode(), answer.body());
  }

  /** Posts nothing and returns the status. */
  int post(String path) {
    return send(
            request(path, ANSWER).POST(HttpRequest.BodyPublishers.noBody()).build(),
            BodyHandlers.discarding())
        .statusCode();
  }

  /** Posts JSON, waits as long as a generation may take, and returns answers of any status. */
  Answer post(String path, byte[] json) {
    var body = BodyHandlers.limiting(BodyHandlers.ofString(), MOST_BYTES);
    var answer = send(posted(path, json), body);
    return new Answer(answer.statusCode(), answer.body());
  }

  /**
   * Posts JSON and returns the lines of a stream as they come; the caller closes it.
   *
   * @throws RefusedException when the status is not 200
   */
  Stream<String> stream(String path, Map<String, ? extends @Nullable Object> body) {
    var answer = send(posted(path, Json.write(body)), BodyHandlers.ofLines());
    if (answer.statusCode() != 200) {
      try (var lines = answer.body()) {
        throw refusal(path, answer.statusCode(), String.join("\n", lines.toList()));
      }
    }
    return answer.body();
  }

  private HttpRequest posted(String path, byte[] json) {
    return request(path, GENERATION)
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofByteArray(json))
        .build();
  }

  private HttpRequest.Builder request(String path, Duration timeout) {
    var base = server.toString();
    var request =
        HttpRequest.newBuilder(
                URI.create(
                    (base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path))
            .timeout(timeout);
    return key == null ? request : request.header("authorization", "Bearer " + key);
  }

  private <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> body) {
    try {
      return http.send(request, body);
    } catch (IOException e) {
      var cause = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
      throw new UnreachableException(
          "no server answers at %s (%s); %s".formatted(server, cause, remedy), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UnreachableException("interrupted while " + server + " was asked", e);
    }
  }

  private RefusedException refusal(String path, int status, String body) {
    return new RefusedException(
        "%s%s answered %d%s".formatted(server, path, status, message(body)));
  }

  /** Returns the message of an error in OpenAI's form, or else the beginning of the text. */
  static String message(String body) {
    if (body.isBlank()) {
      return "";
    }
    try {
      var object = Json.readObject(body.getBytes(StandardCharsets.UTF_8));
      var error = object.members().get("error");
      var message =
          error instanceof Map<?, ?> map ? map.get("message") : object.members().get("message");
      if (message != null) {
        return ": " + message;
      }
    } catch (IllegalArgumentException _) {
      // not JSON: shown as it is
    }
    return ": " + body.strip().lines().findFirst().orElse("");
  }
}
