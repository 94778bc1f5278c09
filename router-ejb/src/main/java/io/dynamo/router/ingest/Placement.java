package io.dynamo.router.ingest;

/** A request that this router has placed, until it is closed. Safe for concurrent use. */
public interface Placement extends AutoCloseable {
  /** The first token is out: the prompt is no work any more. Idempotent. */
  void prefillDone();

  /** Gives everything back. Idempotent. */
  @Override
  void close();
}
