package io.dynamo.frontend.watch;

/** A part of a request's way through the frontend. */
public enum Stage {
  /** From a body that was read to its tokens: parsing, template, tokenizer, waiting for them. */
  PREPROCESS("preprocess", ""),
  /** The template at work. */
  TEMPLATE("template", ""),
  /** The tokenizer at work. */
  TOKENIZE("tokenize", ""),
  /** The router's choice of a rank, its queue included. */
  ROUTE("route", "aggregated"),
  /** From a worker being asked to its first item. */
  DISPATCH("dispatch", "aggregated");

  private final String label;
  private final String phase;

  Stage(String label, String phase) {
    this.label = label;
    this.phase = phase;
  }

  /** Its name in metrics, spans and recordings. */
  public String label() {
    return label;
  }

  String phase() {
    return phase;
  }
}
