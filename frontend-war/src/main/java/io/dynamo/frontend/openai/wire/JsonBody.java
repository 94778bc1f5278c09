package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Parses a request's JSON body within the bounds of JsonText. */
public final class JsonBody {
  private static final System.Logger LOG = System.getLogger(JsonBody.class.getName());
  private static final String INVALID_BODY =
      "Failed to deserialize the JSON body into the target type: ";

  private static final AtomicBoolean PARSER_FAILED = new AtomicBoolean();

  private JsonBody() {}

  /**
   * Refuses requests with a content type other than JSON: 415.
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
      throw invalidBody(e.fault() + e.place());
    } catch (RuntimeException e) { // the parser's own failure, on a text of a client's choice
      boolean first = PARSER_FAILED.compareAndSet(false, true);
      LOG.log(
          first ? Level.WARNING : Level.DEBUG,
          "the JSON parser failed on a body, which is refused; more such bodies are only counted",
          FailureShape.of(e));
      throw new ApiException(ApiError.unreadable(INVALID_BODY + "the parser cannot read it"));
    }
  }

  /** Whether the body requests a stream; other fields may be invalid. */
  public static boolean asksForStream(JsonNode body) {
    return body.path("stream").asBoolean(false);
  }

  /** The name of the requested model. */
  public static String model(JsonNode body) {
    return JsonFields.of(body, "").requireString("model");
  }

  /** A value as UTF-8 JSON. */
  public static byte[] write(@Nullable Object value) throws JsonProcessingException {
    return JsonText.MAPPER.writeValueAsBytes(value);
  }

  /** The error for JSON that does not have the fields and types of a request: 400. */
  static ApiException invalidBody(String reason) {
    return new ApiException(400, INVALID_BODY + reason);
  }
}
