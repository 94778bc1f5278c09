package io.dynamo.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes JSON as maps in the order of the text, lists, strings, booleans and numbers. A
 * whole number is an {@link Integer}, {@link Long} or {@link BigInteger}, never a double. Nesting
 * and lengths are bounded. Safe for concurrent use.
 */
public final class Json {
  private static final int MAX_DEPTH = 64;
  private static final int MAX_TEXT_LENGTH = 8 << 20;
  private static final int POOLED_BUFFERS = 64;
  private static final ObjectMapper MAPPER =
      new ObjectMapper(
              bounded()
                  // peers choose the names: a shared table of them could be made to overflow
                  .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private static final KnownNamesFactory MESSAGES =
      new KnownNamesFactory(
          bounded()
              .disable(
                  StreamReadFeature.STRICT_DUPLICATE_DETECTION) // that of the reader is cheaper
              .recyclerPool(JsonRecyclerPools.newBoundedPool(POOLED_BUFFERS)));

  /**
   * The mapper for JSON of model folders and clients: long, deep, and with extensions that their
   * authors use.
   */
  private static final ObjectMapper PLAIN = open(new JsonFactoryBuilder());

  private static final ObjectMapper LENIENT =
      open(
          new JsonFactoryBuilder()
              .enable(JsonReadFeature.ALLOW_JAVA_COMMENTS)
              .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
              .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
              .enable(JsonReadFeature.ALLOW_SINGLE_QUOTES)
              .enable(JsonReadFeature.ALLOW_UNQUOTED_FIELD_NAMES));

  private Json() {}

  private static JsonFactoryBuilder bounded() {
    var factory = new JsonFactoryBuilder();
    factory
        .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
        .streamReadConstraints(
            StreamReadConstraints.builder()
                .maxNestingDepth(MAX_DEPTH)
                .maxStringLength(MAX_TEXT_LENGTH)
                .build());
    return factory;
  }

  /**
   * Makes a reader that keeps nothing: a pool of buffers in a thread would keep a stopped
   * application's class loader, and a shared table of names could be made to overflow.
   */
  private static ObjectMapper open(JsonFactoryBuilder factory) {
    return new ObjectMapper(
            factory
                .recyclerPool(JsonRecyclerPools.nonRecyclingPool())
                .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                .build())
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  }

  /**
   * Reads a model's file: comments, trailing commas, infinities, single quotes and names without
   * quotes are accepted.
   *
   * @throws IllegalArgumentException when the text is not JSON, naming {@code file}
   */
  public static @Nullable Object readFile(String file, String text) {
    try {
      return LENIENT.readValue(text, Object.class);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(file + " is not JSON: " + e.getOriginalMessage(), e);
    }
  }

  /** Returns the object that {@code text} spells; null when it spells something else. */
  public static @Nullable Map<?, ?> objectOrNull(String text) {
    try {
      return PLAIN.readValue(text, Object.class) instanceof Map<?, ?> object ? object : null;
    } catch (JsonProcessingException e) {
      return null;
    }
  }

  /**
   * Reads an object.
   *
   * @throws IllegalArgumentException when {@code json} is not one
   */
  public static JsonObject readObject(byte[] json) {
    return read(json);
  }

  /**
   * Makes field names cheap to read by {@link #readMessage}. For names that nearly all messages of
   * a format have, and never for those that a sender chooses: all messages share the table.
   */
  public static void expect(String... names) {
    MESSAGES.addNames(List.of(names));
  }

  /**
   * Reads an object as {@link #readObject} does, at a third of its cost where it is small and has
   * the {@linkplain #expect expected} names. Refuses hundreds of names that collide in a hash
   * table, and bytes that are not UTF-8.
   *
   * @throws IllegalArgumentException when {@code json} is not one
   */
  public static JsonObject readMessage(byte[] json) {
    return readMessage(json, 0, json.length, MessageShape.WHOLE);
  }

  /**
   * Reads a message without the members that {@code shape} leaves out.
   *
   * @param from index of its first byte
   * @param to index after its last
   * @throws IllegalArgumentException when the bytes are no object
   */
  public static JsonObject readMessage(byte[] json, int from, int to, MessageShape shape) {
    try (var parser = MESSAGES.createParser(json, from, to - from)) {
      var members = new MessageReader(parser, shape).read();
      if (members != null) {
        return new JsonObject(members);
      }
    } catch (JsonProcessingException e) {
      throw notJson(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw noObject();
  }

  private static JsonObject read(byte[] json) {
    try {
      if (MAPPER.readValue(json, Object.class) instanceof Map<?, ?> map) {
        return JsonObject.of(map);
      }
    } catch (JsonProcessingException e) {
      throw notJson(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw noObject();
  }

  private static IllegalArgumentException notJson(JsonProcessingException cause) {
    return new IllegalArgumentException("is not JSON: " + cause.getOriginalMessage(), cause);
  }

  private static IllegalArgumentException noObject() {
    return new IllegalArgumentException("is JSON, but not an object");
  }

  /** Writes one line without a newline. */
  public static byte[] write(Map<String, ? extends @Nullable Object> object) {
    try {
      return MAPPER.writeValueAsBytes(object);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("cannot be written as JSON", e);
    }
  }

  /** Returns an unsigned 64-bit number as written in JSON. */
  public static Number unsigned(long value) {
    return value >= 0 ? (Number) value : (Number) new BigInteger(Long.toUnsignedString(value));
  }
}
