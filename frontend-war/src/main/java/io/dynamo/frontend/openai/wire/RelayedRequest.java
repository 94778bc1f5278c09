package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** The body of a request for text as workers without token ids get it. */
public final class RelayedRequest {
  private static final String STREAM_OPTIONS = "stream_options";
  private static final String CONTINUOUS = "continuous_usage_stats";

  private RelayedRequest() {}

  /**
   * Returns the fields of a checked body without those that are null, and with the default of its
   * stream options that Dynamo sends.
   */
  public static Map<String, Object> body(JsonNode body) {
    var sent = new LinkedHashMap<String, Object>();
    body.properties()
        .forEach(
            field -> {
              if (!field.getValue().isNull()) {
                sent.put(field.getKey(), JsonFields.plainValue(field.getValue()));
              }
            });
    if (sent.get(STREAM_OPTIONS) instanceof Map<?, ?> options && !options.containsKey(CONTINUOUS)) {
      var all = new LinkedHashMap<Object, Object>(options);
      all.put(CONTINUOUS, false);
      sent.put(STREAM_OPTIONS, all);
    }
    return Collections.unmodifiableMap(sent);
  }
}
