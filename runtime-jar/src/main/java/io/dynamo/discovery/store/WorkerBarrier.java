package io.dynamo.discovery.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.store.Bucket.Entry;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A meeting of one leader and a number of workers: the leader receives the data of each worker,
 * every worker those of the leader. Its keys are those of Dynamo's barrier: {@code data}, {@code
 * worker/<name>}, then {@code complete} or {@code abort} below {@code barrier/<id>}, under the
 * leases of those who write them; that of a worker that gives up is deleted. An id serves one
 * meeting. Safe for concurrent use.
 */
public final class WorkerBarrier {
  private static final System.Logger LOG = System.getLogger(WorkerBarrier.class.getName());
  private static final String DATA = "data";
  private static final String WORKER = "worker/";
  private static final String COMPLETE = "complete";
  private static final String ABORT = "abort";
  private static final byte[] NULL = "null".getBytes(UTF_8);

  private final BucketName name;
  private final Bucket keys;

  public WorkerBarrier(KeyValueStore store, String id) {
    name = new BucketName("barrier/" + id);
    keys = store.bucket(name);
  }

  /**
   * Leads the meeting: waits for {@code count} workers.
   *
   * @param data for the workers, JSON
   * @return what the workers bring, by their names
   * @throws IllegalStateException when the id has been used
   * @throws TimeoutException when fewer have come in time; the others are notified
   */
  public Map<String, byte[]> lead(byte[] data, int count, Duration patience)
      throws InterruptedException, TimeoutException {
    if (keys.create(DATA, data).isEmpty()) {
      throw used(DATA);
    }
    boolean met = false;
    try {
      var state = BucketState.await(keys, it -> workers(it).size() >= count, patience);
      if (state.isEmpty()) {
        throw new TimeoutException(
            "%d of %d workers have come to %s within %s"
                .formatted(workers(keys.entries()).size(), count, name, patience));
      }
      var workers = workers(state.get());
      var counted =
          workers.keySet().stream().map(this::quoted).collect(Collectors.joining(",", "[", "]"));
      if (keys.create(COMPLETE, counted.getBytes(UTF_8)).isEmpty()) {
        throw used(COMPLETE);
      }
      met = true;
      var brought = new LinkedHashMap<String, byte[]>();
      workers.forEach((worker, entry) -> brought.put(worker, entry.value()));
      return brought;
    } finally {
      if (!met) {
        abort();
      }
    }
  }

  private void abort() {
    try {
      var _ = keys.create(ABORT, NULL);
    } catch (UncheckedIOException e) { // the reason of the abort matters more
      LOG.log(Level.WARNING, "the workers at " + name + " are not told that it ends", e);
    }
  }

  private static Map<String, Entry> workers(Map<String, Entry> state) {
    var workers = new TreeMap<String, Entry>();
    state.forEach(
        (key, entry) -> {
          if (key.startsWith(WORKER)) {
            workers.put(key.substring(WORKER.length()), entry);
          }
        });
    return workers;
  }

  private IllegalStateException used(String key) {
    return new IllegalStateException(
        "%s/%s exists: an earlier meeting, or one that runs, has this id".formatted(name, key));
  }

  /**
   * Joins the meeting as {@code worker}: waits for the leader, then for the other workers.
   *
   * @param worker a name as those of buckets
   * @param data for the leader, JSON
   * @return what the leader brings
   * @throws IllegalStateException when the leader has given up or lost its lease, a worker of this
   *     name has come, or the meeting was complete without this worker
   * @throws TimeoutException when the meeting is not complete in time
   */
  public byte[] join(String worker, byte[] data, Duration patience)
      throws InterruptedException, TimeoutException {
    var key = WORKER + new BucketName(worker);
    var deadline = Deadline.after(patience);
    var led = await(it -> it.containsKey(DATA), deadline, patience);
    if (led.containsKey(COMPLETE)) {
      throw new IllegalStateException(
          "%s was complete before worker %s came".formatted(name, worker));
    }
    var come = NewKey.create(keys, key, data);
    if (come.isEmpty()) {
      throw used(key);
    }
    boolean met = false;
    try {
      var complete =
          await(it -> it.containsKey(COMPLETE) || !it.containsKey(DATA), deadline, patience);
      if (!complete.containsKey(COMPLETE)) {
        throw new IllegalStateException("the leader of %s is gone".formatted(name));
      }
      if (!isAmong(worker, value(complete, COMPLETE))) {
        throw new IllegalStateException(
            "%s was complete before worker %s came".formatted(name, worker));
      }
      met = true;
      return value(led, DATA);
    } finally {
      if (!met) {
        withdraw(key, come.getAsLong());
      }
    }
  }

  /** Deletes the key of a worker that waits no longer, so that the leader does not count it. */
  private void withdraw(String key, long revision) {
    try {
      keys.delete(key, revision);
    } catch (UncheckedIOException e) { // the reason of the withdrawal matters more
      LOG.log(
          Level.WARNING, key + " stays at " + name + " until the lease of this process ends", e);
    }
  }

  /** Waits for a state, or the leader's end of the meeting. */
  private Map<String, Entry> await(
      Predicate<Map<String, Entry>> holds, Deadline deadline, Duration patience)
      throws InterruptedException, TimeoutException {
    var state =
        BucketState.await(
                keys,
                it -> it.containsKey(ABORT) || holds.test(it),
                Duration.ofNanos(deadline.remainingNanos()))
            .orElseThrow(
                () ->
                    new TimeoutException(
                        "%s was not complete within %s".formatted(name, patience)));
    if (state.containsKey(ABORT)) {
      throw new IllegalStateException("the leader has given up " + name);
    }
    return state;
  }

  /** Whether the leader has counted {@code worker}; leaders of early versions name nobody. */
  private boolean isAmong(String worker, byte[] complete) {
    var text = new String(complete, UTF_8);
    return text.equals("null") || text.contains(quoted(worker));
  }

  /** Returns the whole key of a worker as JSON; its name needs no escapes. */
  private String quoted(String worker) {
    return "\"" + name + "/" + WORKER + worker + "\"";
  }

  private static byte[] value(Map<String, Entry> state, String key) {
    return Objects.requireNonNull(state.get(key)).value();
  }
}
