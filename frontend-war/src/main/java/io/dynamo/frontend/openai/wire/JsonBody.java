package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Reads and parses a request's JSON body: in bounded time and bytes, by the rules of JsonText. */
public final class JsonBody {
  private static final System.Logger LOG = System.getLogger(JsonBody.class.getName());
  private static final int FIRST_READ_BYTES = 8 * 1024;
  private static final String SHAPE = "Failed to deserialize the JSON body into the target type: ";

  private static final AtomicBoolean PARSER_FAILED = new AtomicBoolean();

  private JsonBody() {}

  /**
   * Refuses what is not JSON by its content type: 415.
   *
   * @param contentType {@code application/json} or {@code application/*+json}; parameters are
   *     ignored
   */
  public static void checkContentType(@Nullable String contentType) {
    var type = contentType == null ? "" : contentType;
    int parameters = type.indexOf(';');
    type = (parameters < 0 ? type : type.substring(0, parameters)).strip().toLowerCase(Locale.ROOT);
    if (!type.equals("application/json")
        && !(type.startsWith("application/") && type.endsWith("+json"))) {
      throw new ApiException(415, "Expected request with Content-Type application/json");
    }
  }

  /**
   * Reads a whole body, within the request's deadline and {@code limit}. One read waits as long as
   * the server's read timeout lets it.
   *
   * @param declaredBytes {@code Content-Length}, negative when unknown
   * @param limitBytes {@code dynamo.frontend.body-limit}
   * @param limit {@code dynamo.frontend.upload-timeout}
   * @param share what the body takes from the budget, as it grows
   * @throws ApiException with 413 when the body is longer, 408 when it takes too long, 503 when the
   *     budget is spent, 400 when it breaks off
   */
  public static byte[] read(
      InputStream in,
      long declaredBytes,
      int limitBytes,
      Deadline deadline,
      Duration limit,
      BodyBudget.Share share) {
    if (declaredBytes > limitBytes) {
      throw new ApiException(
          413,
          "Request body of %d bytes exceeds the limit of %d bytes set by dynamo.frontend.body-limit"
              .formatted(declaredBytes, limitBytes));
    }
    var until = deadline.within(limit);
    var body = new byte[0];
    int size = 0;
    while (true) {
      if (until.isExpired()) {
        throw tooSlow(limit);
      }
      if (size == body.length && size < limitBytes) {
        int room = (int) Math.min(limitBytes, Math.max(FIRST_READ_BYTES, 2L * size));
        share.take(room - size);
        body = Arrays.copyOf(body, room);
      }
      int count;
      try {
        count = size < limitBytes ? in.read(body, size, body.length - size) : in.read(new byte[1]);
      } catch (SocketTimeoutException e) {
        throw tooSlow(limit);
      } catch (IOException e) {
        throw until.isExpired()
            ? tooSlow(limit)
            : new ApiException(400, "The request's body could not be read to its end");
      }
      if (count < 0) {
        return Arrays.copyOf(body, size);
      }
      size += count;
      if (size > limitBytes) {
        throw new ApiException(
            413,
            ("Request body of more than %d bytes exceeds the limit of %d bytes set by"
                    + " dynamo.frontend.body-limit")
                .formatted(limitBytes, limitBytes));
      }
    }
  }

  private static ApiException tooSlow(Duration limit) {
    return new ApiException(
        408,
        ("The request's body did not arrive within the request's deadline and the %d ms of"
                + " dynamo.frontend.upload-timeout; send it faster")
            .formatted(limit.toMillis()));
  }

  /**
   * Parses a body.
   *
   * @throws ApiException with 400 and the place of the fault
   */
  public static JsonNode parse(byte[] body) {
    return parse(JsonText.MAPPER, body);
  }

  static JsonNode parse(JsonMapper mapper, byte[] body) {
    try {
      return JsonText.parse(mapper, new String(body, StandardCharsets.UTF_8)); // or U+FFFD
    } catch (JsonText.Malformed e) {
      throw shape(e.fault() + e.place());
    } catch (RuntimeException e) { // the parser's own failure, on a text of a client's choice
      boolean first = PARSER_FAILED.compareAndSet(false, true);
      LOG.log(
          first ? Level.WARNING : Level.DEBUG,
          "the JSON parser failed on a body, which is refused; more such bodies are only counted",
          FailureShape.of(e));
      throw new ApiException(ApiError.unreadable(SHAPE + "the parser cannot read it"));
    }
  }

  /** Whether a stream is asked for, as far as a body tells that may be wrong elsewhere. */
  public static boolean asksForStream(JsonNode body) {
    return body.path("stream").asBoolean(false);
  }

  /** The model that is asked for. */
  public static String model(JsonNode body) {
    return Fields.of(body, "").requireString("model");
  }

  /** A value as UTF-8 JSON. */
  public static byte[] write(@Nullable Object value) throws JsonProcessingException {
    return JsonText.MAPPER.writeValueAsBytes(value);
  }

  /** What to throw when the body's shape is wrong: 400. */
  static ApiException shape(String reason) {
    return new ApiException(400, SHAPE + reason);
  }
}
