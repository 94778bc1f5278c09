package io.dynamo.worker.engine.mock;

import io.dynamo.kv.StoredBlock;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Buffers the cache events of a rank's pass until the pass has ended, since they are true only
 * then. Used by the rank's thread only.
 */
final class PassEvents implements KvEventSink {
  private final KvEventSink to;
  private final List<Runnable> kept = new ArrayList<>(); // the events of one pass

  PassEvents(KvEventSink to) {
    this.to = to;
  }

  @Override
  public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
    kept.add(() -> to.stored(rank, parent, blocks));
  }

  @Override
  public void removed(int rank, List<SequenceHash> blocks) {
    kept.add(() -> to.removed(rank, blocks));
  }

  @Override
  public void cleared(int rank) {
    kept.add(() -> to.cleared(rank));
  }

  /** Sends all buffered events, in order. */
  void flush() {
    kept.forEach(Runnable::run);
    kept.clear();
  }
}
