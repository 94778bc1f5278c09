package io.dynamo.worker;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.ModelRecord;
import java.util.Collection;

/**
 * The model card of one worker in discovery, of which the taints may change while it is there. Safe
 * for concurrent use; calls wait for discovery.
 */
final class PublishedCard implements AutoCloseable {
  private final Discovery discovery;
  private ModelRecord record; // guarded by this, like what follows
  private Discovery.Handle handle;
  private boolean closed;

  /** Registers {@code record}. */
  PublishedCard(Discovery discovery, ModelRecord record) {
    this.discovery = discovery;
    this.record = record;
    this.handle = discovery.register(record);
  }

  /**
   * Puts these taints in the place of those there were; routers hear of it, and nobody sees the
   * card gone.
   *
   * @throws IllegalStateException when the card is no longer there
   */
  synchronized void taint(Collection<String> taints) {
    if (closed) {
      throw new IllegalStateException("the worker has left discovery");
    }
    var tainted =
        new ModelRecord(
            record.endpoint(), record.id(), record.card().withTaints(taints), record.suffix());
    handle = discovery.replace(record, tainted);
    record = tainted;
  }

  @Override
  public synchronized void close() {
    closed = true;
    handle.close();
  }
}
