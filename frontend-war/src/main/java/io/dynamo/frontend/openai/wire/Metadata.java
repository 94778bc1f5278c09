package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;

/** Texts by name that clients attach to what is kept for them. */
final class Metadata {
  private static final int MAX_PAIRS = 16;
  private static final int MAX_KEY = 64;
  private static final int MAX_VALUE = 512;

  private Metadata() {}

  /**
   * Checks metadata against the bounds of OpenAI's API.
   *
   * @return the same as JSON
   * @throws ApiException with 400
   */
  static String checked(JsonNode metadata) {
    boolean well = metadata.isObject() && metadata.size() <= MAX_PAIRS;
    for (var pair : metadata.properties()) {
      var value = pair.getValue();
      well &=
          pair.getKey().length() <= MAX_KEY
              && value.isTextual()
              && value.textValue().length() <= MAX_VALUE;
    }
    if (!well) {
      throw new ApiException(
          new ApiError(
              400,
              "`metadata` must be an object of at most %d texts of %d characters, with keys of %d"
                  .formatted(MAX_PAIRS, MAX_VALUE, MAX_KEY),
              null,
              "metadata",
              null));
    }
    return metadata.toString();
  }
}
