package io.dynamo.inference.tensor;

import java.util.Map;

/**
 * An output that is asked for.
 *
 * @param parameters which its worker interprets
 */
public record WantedOutput(String name, Map<String, Object> parameters) {
  public WantedOutput {
    parameters = Map.copyOf(parameters);
  }
}
