package io.dynamo.worker.engine.llamacpp;

import io.dynamo.json.JsonObject;

/**
 * The limits that the llama.cpp server reports.
 *
 * @param positions tokens that one slot can hold
 * @param slots generations that the server runs at once
 * @param vocabulary number of token ids of its model
 */
record ServerFacts(int positions, int slots, int vocabulary) {
  /**
   * Reads the limits from the server's answers.
   *
   * @param props the answer of {@code /props}
   * @param models the answer of {@code /v1/models}
   * @throws IllegalArgumentException when a member is missing
   */
  static ServerFacts of(JsonObject props, JsonObject models) {
    var listed = models.optionalObjects("data");
    if (listed.isEmpty()) {
      throw new IllegalArgumentException("member \"data\" is empty");
    }
    return new ServerFacts(
        props.object("default_generation_settings").count("n_ctx"),
        props.count("total_slots"),
        listed.getFirst().object("meta").count("n_vocab"));
  }
}
