package io.dynamo.worker.engine.remote;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Checks the limits on guided texts that all servers share. Stateless. */
public final class GuidedForms {
  private static final String REGEX_SPECIAL = "\\.[]{}()*+-?^$|#&~";

  private GuidedForms() {}

  /**
   * @throws InvalidRequestException when the request names a backend, which servers choose at their
   *     start
   */
  public static void refuseBackend(String engine, GuidedDecoding form) {
    refuse(
        engine, "guided_decoding.backend", "auto".equals(form.backend()) ? null : form.backend());
  }

  /**
   * @throws InvalidRequestException when the option has a value, which servers choose at their
   *     start
   */
  public static void refuse(String engine, String option, @Nullable String value) {
    if (value != null) {
      throw new InvalidRequestException(
          "%s is %s; %s's server chooses it at its start, so leave it out"
              .formatted(option, value, engine));
    }
  }

  /**
   * @param forms names of the forms that the request gives
   * @throws InvalidRequestException when there is more than one
   */
  public static void requireOne(Set<String> forms) {
    if (forms.size() > 1) {
      throw new InvalidRequestException(
          "guided_decoding has %s; a text has one form".formatted(forms));
    }
  }

  /** Returns an object as JSON text; anything else unchanged. */
  public static @Nullable Object asText(@Nullable Object value) {
    return value instanceof Map<?, ?> map
        ? new String(Json.write(JsonObject.of(map).members()), StandardCharsets.UTF_8)
        : value;
  }

  /** Returns a regular expression that matches the texts of {@code choices} and nothing else. */
  public static String alternatives(List<String> choices) {
    return choices.stream().map(GuidedForms::literal).collect(Collectors.joining("|", "(", ")"));
  }

  private static String literal(String text) {
    var escaped = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (REGEX_SPECIAL.indexOf(c) >= 0) {
        escaped.append('\\');
      }
      escaped.append(c);
    }
    return escaped.toString();
  }
}
