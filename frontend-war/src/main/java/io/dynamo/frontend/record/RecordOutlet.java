package io.dynamo.frontend.record;

/**
 * Takes records of requests, and counts those that it loses: no failure reaches its caller. For one
 * thread.
 */
interface RecordOutlet {
  /**
   * Writes one record, which may wait for others.
   *
   * @param json the record as a JSON object in UTF-8, without a line's end
   */
  void write(TraceRecord record, byte[] json);

  /** Writes what waits, where that takes no network. */
  void flush();

  /** Begins to write the last records, without waiting for that. */
  void end();

  /** Writes the last records, for a bounded time. */
  void close();
}
