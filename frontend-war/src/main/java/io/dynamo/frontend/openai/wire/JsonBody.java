package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A request's JSON: bounded, strict in its structure and lenient in its strings. Raw control
 * characters in a string are taken as they are, broken UTF-8 becomes U+FFFD; a key given twice, a
 * byte-order mark, a number out of range, half a surrogate pair, and anything after the value are
 * refused.
 */
public final class JsonBody {
  private static final int MAX_DEPTH = 128;
  private static final int MAX_TOKENS =
      1_000_000; // of JSON; a node of the tree costs some 60 bytes
  private static final int MAX_DIGITS = 400;
  private static final int MAX_KEY = 50_000; // characters
  private static final String BOUNDS =
      "more than %d levels, %d tokens, %d digits of a number or %d characters of a key"
          .formatted(MAX_DEPTH, MAX_TOKENS, MAX_DIGITS, MAX_KEY);
  private static final int SHOWN = 256; // characters of what is wrong
  private static final int FIRST_READ_BYTES = 8 * 1024;
  private static final String SHAPE = "Failed to deserialize the JSON body into the target type: ";

  private static final int POOLED_BUFFERS = 64;

  /** Reads trees; also what small answers are written with. */
  static final JsonMapper MAPPER = mapper();

  private JsonBody() {}

  @SuppressWarnings("deprecation") // the factory's own builder knows the constraints
  private static JsonMapper mapper() {
    var mapper =
        JsonMapper.builder(
                JsonFactory.builder() // not a pool by thread: each request has its own
                    .recyclerPool(JsonRecyclerPools.newBoundedPool(POOLED_BUFFERS))
                    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES) // clients choose them
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
            .build();
    mapper
        .getFactory()
        .setStreamReadConstraints(
            StreamReadConstraints.builder()
                .maxNestingDepth(MAX_DEPTH)
                .maxStringLength(Integer.MAX_VALUE)
                .maxNumberLength(MAX_DIGITS)
                .maxNameLength(MAX_KEY)
                .maxTokenCount(MAX_TOKENS)
                .build());
    return mapper;
  }

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
    var text = new String(body, StandardCharsets.UTF_8); // malformed input becomes U+FFFD
    JsonNode root;
    try (JsonParser parser = MAPPER.createParser(text)) {
      root = MAPPER.readTree(parser);
      if (root == null || root.isMissingNode()) {
        throw shape("EOF while parsing a value at line 1 column 0");
      }
      if (parser.nextToken() != null) {
        throw shape("trailing characters" + at(parser));
      }
    } catch (StreamConstraintsException e) {
      throw shape(BOUNDS + at(e));
    } catch (JsonProcessingException e) {
      throw shape(firstLine(e.getOriginalMessage()) + at(e));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a string does not fail to be read
    }
    boolean mayHoldSurrogates = text.contains("\\u");
    checkTree(root, mayHoldSurrogates);
    return root;
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
    return MAPPER.writeValueAsBytes(value);
  }

  /** What to throw when the body's shape is wrong: 400. */
  static ApiException shape(String reason) {
    return new ApiException(400, SHAPE + reason);
  }

  private static void checkTree(JsonNode node, boolean strings) {
    if (node.isTextual()) {
      if (strings) {
        checkSurrogates(node.textValue());
      }
    } else if (node.isFloatingPointNumber()) {
      if (Double.isInfinite(node.doubleValue())) {
        throw shape("number out of range");
      }
    } else if (node.isObject()) {
      for (var entry : node.properties()) {
        if (strings) {
          checkSurrogates(entry.getKey());
        }
        checkTree(entry.getValue(), strings);
      }
    } else if (node.isArray()) {
      for (var element : node) {
        checkTree(element, strings);
      }
    }
  }

  private static void checkSurrogates(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        throw shape("lone surrogate \\u%04x in a string".formatted((int) c));
      }
    }
  }

  private static String firstLine(@Nullable String text) {
    var line = text == null ? "" : text.lines().findFirst().orElse("");
    return line.isEmpty() ? "not JSON" : line.length() > SHOWN ? line.substring(0, SHOWN) : line;
  }

  private static String at(JsonProcessingException e) {
    var where = e.getLocation();
    return where == null
        ? ""
        : " at line %d column %d".formatted(where.getLineNr(), where.getColumnNr());
  }

  private static String at(JsonParser parser) {
    var where = parser.currentLocation();
    return " at line %d column %d".formatted(where.getLineNr(), where.getColumnNr());
  }
}
