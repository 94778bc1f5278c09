package io.dynamo.inference;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A request to a worker that takes the body of a client's request as it is: model input {@code
 * Text} on the worker's card.
 *
 * @param body as JSON types: maps, lists, strings, numbers, booleans; null where JSON has it
 */
public record BodyTask(Map<String, Object> body) {
  public BodyTask {
    body = Collections.unmodifiableMap(new LinkedHashMap<>(body)); // values may be null
  }
}
