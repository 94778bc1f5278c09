package io.dynamo.discovery.store;

import io.dynamo.discovery.store.Bucket.Entry;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls the listener of one bucket for each state that differs from the one before. {@link #report}
 * is called by one thread at a time. For backends.
 */
public final class BucketWatch {
  private static final System.Logger LOG = System.getLogger(BucketWatch.class.getName());

  private final BucketName bucket;
  private final Consumer<Map<String, Entry>> listener;
  private @Nullable Map<String, Entry> delivered; // by the backend's thread only
  private volatile boolean closed;

  public BucketWatch(BucketName bucket, Consumer<Map<String, Entry>> listener) {
    this.bucket = bucket;
    this.listener = listener;
  }

  public BucketName bucket() {
    return bucket;
  }

  /** Reports {@code state} if it is the first or differs from the last. */
  public void report(Map<String, Entry> state) {
    if (closed || state.equals(delivered)) {
      return;
    }
    var copy = Map.copyOf(state);
    delivered = copy;
    try {
      listener.accept(copy);
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "a listener of the bucket " + bucket + " failed; it hears on", e);
    }
  }

  /** Stops calling the listener. */
  public void close() {
    closed = true;
  }

  public boolean isClosed() {
    return closed;
  }
}
