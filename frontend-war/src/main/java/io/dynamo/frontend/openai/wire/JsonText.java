package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Parses JSON from clients, in bodies and inside strings: bounded, strict in its structure and
 * lenient in its strings. Raw control characters in a string are taken as they are, broken UTF-8
 * becomes U+FFFD; a key given twice, a byte-order mark, a number out of range, half a surrogate
 * pair, and anything after the value are refused. No state is kept between texts.
 */
final class JsonText {
  /** Signals a text that is refused, with its fault and place. */
  static final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    private final String fault;
    private final String place;

    private Malformed(String fault, @Nullable JsonLocation place) {
      super(fault, null, false, false);
      this.fault = fault;
      this.place =
          place == null
              ? ""
              : " at line %d column %d".formatted(place.getLineNr(), place.getColumnNr());
    }

    /** The fault of the text, in one line. */
    String fault() {
      return fault;
    }

    /** The line and column of the fault, with a space before it; empty when unknown. */
    String place() {
      return place;
    }
  }

  private static final int MAX_DEPTH = 128;
  private static final int MAX_TOKENS =
      1_000_000; // of JSON; a node of the tree costs some 60 bytes
  private static final int MAX_DIGITS = 400;
  private static final int MAX_KEY = 50_000; // characters
  private static final String BOUNDS =
      "more than %d levels, %d tokens, %d digits of a number or %d characters of a key"
          .formatted(MAX_DEPTH, MAX_TOKENS, MAX_DIGITS, MAX_KEY);
  private static final int SHOWN = 256; // characters of a fault's description
  private static final int POOLED_BUFFERS = 64;

  /** Reads trees and writes small answers. */
  static final JsonMapper MAPPER = mapper();

  private JsonText() {}

  @SuppressWarnings("deprecation") // the factory's own builder knows the constraints
  private static JsonMapper mapper() {
    var mapper =
        JsonMapper.builder(
                JsonFactory.builder() // not a pool by thread: each request has its own
                    .recyclerPool(JsonRecyclerPools.newBoundedPool(POOLED_BUFFERS))
                    // clients choose the names: a shared table of them could be made to overflow
                    .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
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
   * Parses one value.
   *
   * @throws Malformed when the text is not a JSON value
   */
  static JsonNode parse(String text) throws Malformed {
    return parse(MAPPER, text);
  }

  static JsonNode parse(JsonMapper mapper, String text) throws Malformed {
    JsonNode root;
    try (JsonParser parser = mapper.createParser(text)) {
      root = mapper.readTree(parser);
      if (root == null || root.isMissingNode()) {
        throw new Malformed("EOF while parsing a value at line 1 column 0", null);
      }
      if (parser.nextToken() != null) {
        throw new Malformed("trailing characters", parser.currentLocation());
      }
    } catch (StreamConstraintsException e) {
      throw new Malformed(BOUNDS, e.getLocation());
    } catch (JsonProcessingException e) {
      throw new Malformed(firstLine(e.getOriginalMessage()), e.getLocation());
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a string does not fail to be read
    }
    boolean mayHoldSurrogates = text.contains("\\u");
    check(root, mayHoldSurrogates);
    return root;
  }

  /**
   * Returns {@code json} in strict JSON when it is an object; else an empty object, as models may
   * make mistakes where an API has no place for a text.
   */
  static byte[] objectOrEmpty(String json) {
    try {
      var node = parse(json);
      return MAPPER.writeValueAsBytes(node.isObject() ? node : MAPPER.createObjectNode());
    } catch (Malformed e) {
      return "{}".getBytes(StandardCharsets.US_ASCII);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e); // a tree that was parsed can be written
    }
  }

  private static void check(JsonNode node, boolean strings) throws Malformed {
    if (node.isTextual()) {
      if (strings) {
        checkSurrogates(node.textValue());
      }
    } else if (node.isFloatingPointNumber()) {
      if (Double.isInfinite(node.doubleValue())) {
        throw new Malformed("number out of range", null);
      }
    } else if (node.isObject()) {
      for (var entry : node.properties()) {
        if (strings) {
          checkSurrogates(entry.getKey());
        }
        check(entry.getValue(), strings);
      }
    } else if (node.isArray()) {
      for (var element : node) {
        check(element, strings);
      }
    }
  }

  private static void checkSurrogates(String text) throws Malformed {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        throw new Malformed("lone surrogate \\u%04x in a string".formatted((int) c), null);
      }
    }
  }

  private static String firstLine(@Nullable String text) {
    var line = text == null ? "" : text.lines().findFirst().orElse("");
    return line.isEmpty() ? "not JSON" : line.length() > SHOWN ? line.substring(0, SHOWN) : line;
  }
}
