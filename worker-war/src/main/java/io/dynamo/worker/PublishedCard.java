package io.dynamo.worker;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.ModelRecord;
import java.util.Collection;

/**
 * The published model card of one worker; its taints may change while it is registered. Safe for
 * concurrent use; calls block on discovery.
 */
final class PublishedCard implements AutoCloseable {
  private final Discovery discovery;
  private ModelRecord record; // guarded by this, as are the next two
  private Discovery.Handle handle;
  private boolean closed;

  /** Registers {@code record} in discovery. */
  PublishedCard(Discovery discovery, ModelRecord record) {
    this.discovery = discovery;
    this.record = record;
    this.handle = discovery.register(record);
  }

  /**
   * Replaces the card's taints. Routers see the change; the card is never absent in between.
   *
   * @throws IllegalStateException when the card has been unregistered
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
