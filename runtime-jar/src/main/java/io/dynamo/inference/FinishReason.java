package io.dynamo.inference;

/**
 * The reason why a worker ended a generation, by Dynamo's names; {@code error} comes with a
 * message.
 */
public enum FinishReason {
  EOS("eos"),
  LENGTH("length"),
  STOP("stop"),
  CANCELLED("cancelled"),
  CONTENT_FILTER("content_filter"),
  ERROR("error");

  private final String wireName;

  FinishReason(String wireName) {
    this.wireName = wireName;
  }

  public String wireName() {
    return wireName;
  }
}
