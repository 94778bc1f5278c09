package io.dynamo.frontend.record;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A server that takes records of requests in batches. All waits are bounded. */
interface Destination extends AutoCloseable {
  /**
   * The bounds of a batch.
   *
   * @param bytes after which it is sent
   * @param gathering the longest time that its first record waits for others
   */
  record Batch(long bytes, Duration gathering) {}

  Batch batch();

  /**
   * Returns a record as the server takes it; null when it takes none like it. Called on any thread.
   *
   * @param json the record as a JSON object in UTF-8
   */
  byte @Nullable [] entry(TraceRecord record, byte[] json);

  /**
   * Sends a batch. Called on one thread, as is {@link #close}.
   *
   * @return how many of its entries are lost for good
   * @throws IOException when none was taken, and it may be sent again
   */
  int send(List<byte[]> entries) throws IOException, InterruptedException;

  @Override
  void close();
}
