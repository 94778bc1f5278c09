package io.dynamo.inference;

/**
 * Why a worker ended a generation, by Dynamo's names; {@code error} carries a message beside it.
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
