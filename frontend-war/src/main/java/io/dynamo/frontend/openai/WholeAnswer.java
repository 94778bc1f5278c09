package io.dynamo.frontend.openai;

/** An answer that is gathered until it is whole. For one thread. */
interface WholeAnswer {
  /** Adds what an item of a worker has brought. */
  void add(ChoiceDelta delta);

  /** The answer as UTF-8 JSON, when all texts are complete. */
  byte[] write();
}
