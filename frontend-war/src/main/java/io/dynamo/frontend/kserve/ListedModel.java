package io.dynamo.frontend.kserve;

/**
 * A model in the list of models.
 *
 * @param ready whether it takes requests now
 */
public record ListedModel(String name, boolean ready) {
  /** Its state, as Triton calls it. */
  public String state() {
    return ready ? "READY" : "UNAVAILABLE";
  }

  /** The reason of its state; empty for a model that is ready. */
  public String reason() {
    return ready ? "" : "no workers of it are ready";
  }
}
