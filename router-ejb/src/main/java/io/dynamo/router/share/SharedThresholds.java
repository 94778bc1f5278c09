package io.dynamo.router.share;

import io.dynamo.config.router.RouterSettings.Busy;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.store.Bucket;
import io.dynamo.discovery.store.Bucket.Entry;
import io.dynamo.discovery.store.BucketName;
import io.dynamo.discovery.store.KeyValueStore;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Shares thresholds that operators set while servers run, through the store of the cluster: each
 * applies to all routers, also to those that start later. Every router keeps what it has seen and
 * writes it again when its last writer has gone, so a setting lasts as long as one of the routers.
 * Safe for concurrent use.
 */
public final class SharedThresholds implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(SharedThresholds.class.getName());
  private static final BucketName BUCKET = new BucketName("v1/busy_thresholds");
  private static final int ATTEMPTS = 8;
  private static final int MOST = 10_000; // places; more are not heeded
  private static final String BLOCKS = "active_decode_blocks_threshold";
  private static final String TOKENS = "active_prefill_tokens_threshold";
  private static final String FRACTION = "active_prefill_tokens_threshold_frac";

  private final Bucket bucket;
  private final BiConsumer<String, Busy> router;
  private final Executor blocking;
  private final Consumer<Runnable> later;

  /**
   * The thresholds of a place.
   *
   * @param revision of the entry that they were read from or written as
   */
  private record PlaceThresholds(Busy busy, long revision) {}

  private final Map<String, PlaceThresholds> held = new HashMap<>(); // by place; guarded by this
  private final Set<String> missing = new HashSet<>(); // places to write again; guarded by this
  private final Object applying = new Object(); // orders the updates of the router
  private final Discovery.Handle watch;
  private volatile boolean closed;

  /**
   * Begins to follow the store.
   *
   * @param router receives the thresholds of each place; it may block
   * @param blocking runs tasks that wait
   * @param later runs a task some time later, where it must not wait
   */
  public SharedThresholds(
      KeyValueStore store,
      BiConsumer<String, Busy> router,
      Executor blocking,
      Consumer<Runnable> later) {
    this.bucket = store.bucket(BUCKET);
    this.router = router;
    this.blocking = blocking;
    this.later = later;
    this.watch = bucket.watch(this::follow);
  }

  /**
   * Changes the thresholds of a place for all routers.
   *
   * @param present the thresholds of this router, where none have been set
   * @param change applied to those that are set; repeated when others change them meanwhile
   * @return the thresholds now
   * @throws UncheckedIOException when the store does not take the change
   */
  public Busy change(String place, Busy present, UnaryOperator<Busy> change) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      var known = held(place);
      var there = bucket.get(place);
      var before = there.isEmpty() ? null : readable(place, there.get());
      var now = change.apply(before == null ? present : before);
      var written =
          there.isEmpty()
              ? bucket.create(place, write(now))
              : bucket.replace(place, write(now), there.get().revision());
      if (written.isPresent()) {
        if (isLatest(place, known, there.map(Entry::revision).orElse(0L))) {
          hold(place, new PlaceThresholds(now, written.getAsLong()));
          apply(place);
        } // else the store has reported another write, and that may be a later one
        return now;
      }
    }
    throw new UncheckedIOException(
        new IOException(
            "the thresholds of %s were changed by others %d times meanwhile; try again"
                .formatted(place, ATTEMPTS)));
  }

  private void follow(Map<String, Entry> state) {
    var changed = new ArrayList<String>();
    state.forEach(
        (place, entry) -> {
          var busy = readable(place, entry);
          if (busy != null && hold(place, new PlaceThresholds(busy, entry.revision()))) {
            changed.add(place);
          }
        });
    var gone = goneFrom(state);
    if (!changed.isEmpty()) {
      blocking.execute(() -> changed.forEach(this::apply));
    }
    if (!gone.isEmpty()) {
      blocking.execute(this::writeMissing);
    }
  }

  /** Returns whether that is news. */
  private synchronized boolean hold(String place, PlaceThresholds now) {
    if (held.size() >= MOST && !held.containsKey(place)) {
      LOG.log(Level.WARNING, "thresholds of more than {0} places; {1} is skipped", MOST, place);
      return false;
    }
    var before = held.put(place, now);
    return before == null || !before.busy().equals(now.busy());
  }

  /**
   * Whether the store has reported nothing about a place since {@code known}, but the entry that
   * was replaced.
   */
  private synchronized boolean isLatest(
      String place, @Nullable PlaceThresholds known, long replaced) {
    var now = held.get(place);
    return now == null || now.equals(known) || now.revision() == replaced;
  }

  private synchronized Set<String> goneFrom(Map<String, Entry> state) {
    missing.clear();
    missing.addAll(held.keySet());
    missing.removeAll(state.keySet());
    return Set.copyOf(missing);
  }

  private synchronized @Nullable PlaceThresholds held(String place) {
    return held.get(place);
  }

  private synchronized List<String> missing() {
    return List.copyOf(missing);
  }

  private void apply(String place) {
    synchronized (applying) {
      var known = held(place);
      if (known != null && !closed) {
        router.accept(place, known.busy());
      }
    }
  }

  /**
   * Writes the entries that the store lost; the value of another router that wrote first is
   * adopted.
   */
  private void writeMissing() {
    for (var place : missing()) {
      var known = held(place);
      if (closed || known == null) {
        return;
      }
      try {
        var _ = bucket.create(place, write(known.busy()));
        written(place);
      } catch (UncheckedIOException | IllegalStateException e) {
        LOG.log(Level.DEBUG, "the thresholds of " + place + " are written again later", e);
        later.accept(() -> blocking.execute(this::writeMissing));
        return;
      }
    }
  }

  private synchronized void written(String place) {
    missing.remove(place);
  }

  private static byte[] write(Busy busy) {
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put(BLOCKS, busy.decodeBlocks());
    json.put(TOKENS, busy.prefillTokens());
    json.put(FRACTION, busy.prefillTokensFraction());
    return Json.write(json);
  }

  /** Returns null for a value that no router of ours writes. */
  private static @Nullable Busy readable(String place, Entry entry) {
    try {
      var json = Json.readObject(entry.value());
      var tokens = json.optionalLong(TOKENS);
      if (tokens != null && tokens < 0) {
        throw new IllegalArgumentException(TOKENS + " is below 0");
      }
      return new Busy(share(json, BLOCKS, 1), tokens, share(json, FRACTION, Double.MAX_VALUE));
    } catch (IllegalArgumentException e) {
      LOG.log(
          Level.WARNING, "the shared thresholds of {0} are not heeded: {1}", place, e.getMessage());
      return null;
    }
  }

  private static @Nullable Double share(JsonObject json, String name, double most) {
    var member = json.members().get(name);
    if (member == null) {
      return null;
    }
    if (member instanceof Number number
        && number.doubleValue() >= 0
        && number.doubleValue() <= most) {
      return number.doubleValue();
    }
    throw new IllegalArgumentException(name + " is no number from 0 to " + most);
  }

  /** Stops following and publishing thresholds; those set remain. */
  @Override
  public void close() {
    closed = true;
    watch.close();
  }
}
