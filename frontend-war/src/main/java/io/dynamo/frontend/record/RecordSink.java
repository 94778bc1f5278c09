package io.dynamo.frontend.record;

import java.io.IOException;

/** Takes records of requests. For one thread. */
interface RecordSink extends AutoCloseable {
  /**
   * Writes one record, which may wait for {@link #flush}.
   *
   * @param record a JSON object in UTF-8, without a line's end
   */
  void write(byte[] record) throws IOException;

  /** Writes what waits. */
  void flush() throws IOException;

  /** Gives up what could not be written; a later record begins anew. */
  void abandon();

  @Override
  void close() throws IOException;
}
