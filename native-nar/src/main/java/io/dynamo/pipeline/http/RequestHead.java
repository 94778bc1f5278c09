package io.dynamo.pipeline.http;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Method, version and header fields of a request, as far as its parser exposes them.
 *
 * @param version {@code HTTP/1.1} for example
 * @param fields the values of each name in order of arrival, by lower-case name
 */
public record RequestHead(String method, String version, Map<String, List<String>> fields) {
  private static final int LONGEST_ECHO = 1024; // characters; a longer id is dropped

  public RequestHead {
    fields = Map.copyOf(fields);
  }

  /** Collects header fields. For one thread. */
  public static final class Fields {
    private final Map<String, List<String>> values = new HashMap<>();

    /** Adds one line of the header. */
    public Fields add(String name, String value) {
      values.computeIfAbsent(name.toLowerCase(Locale.ROOT), _ -> new ArrayList<>(1)).add(value);
      return this;
    }

    /** Returns the head with the fields added so far. */
    public RequestHead head(String method, String version) {
      return new RequestHead(method, version, values);
    }
  }

  /** Returns all values of a field by its lower-case name, none when it is absent. */
  public List<String> all(String name) {
    return fields.getOrDefault(name, List.of());
  }

  /** Returns the first value of a field by its lower-case name; null when it is absent. */
  public @Nullable String first(String name) {
    var values = all(name);
    return values.isEmpty() ? null : values.getFirst();
  }

  /**
   * Returns the caller's {@code x-request-id} if an answer may repeat it; null when there is none,
   * or one that is not a line of printable ASCII of at most 1,024 characters.
   */
  public @Nullable String requestId() {
    var given = first("x-request-id");
    if (given == null || given.isEmpty() || given.length() > LONGEST_ECHO) {
      return null;
    }
    return given.chars().allMatch(c -> c >= 0x20 && c < 0x7f) ? given : null;
  }
}
