package io.dynamo.worker.load;

import io.dynamo.concurrent.Alarms;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import io.dynamo.wire.kv.ActiveLoadCodec;
import io.dynamo.worker.engine.LoadReport;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Publishes how many KV blocks each rank uses: after a change, at most once per {@link #INTERVAL},
 * and every {@link #REPEAT} even without one, as reports may be lost. Polls the engine's report by
 * alarm, so the engine does no work for it; less often while no rank holds any block, so that an
 * idle worker takes little of the machine. Safe for concurrent use.
 */
public final class LoadPublisher implements AutoCloseable {
  static final Duration INTERVAL = Duration.ofMillis(100);
  static final Duration IDLE_INTERVAL = Duration.ofMillis(500);
  static final Duration REPEAT = Duration.ofSeconds(5);

  private static final System.Logger LOG = System.getLogger(LoadPublisher.class.getName());
  private static final int UNPUBLISHED = -1;

  private final InstanceId worker;
  private final LoadReport report;
  private final Alarms alarms;
  private final EventPlane.Publisher publisher; // guarded by this, like the next ones
  private int[] published = {}; // blocks by rank
  private Duration sinceRepeat = REPEAT; // of all looks so far
  private Alarms.@Nullable Alarm next;
  private boolean failing;
  private boolean closed;

  public LoadPublisher(
      EventPlane plane, EndpointId endpoint, InstanceId worker, LoadReport report, Alarms alarms) {
    this.worker = worker;
    this.report = report;
    this.alarms = alarms;
    this.publisher = plane.publisher(new EventSubject(endpoint, ActiveLoad.TOPIC));
  }

  /** Starts polling; called once the engine has started. Idempotent. */
  public synchronized void start() {
    if (next == null) {
      look();
    }
  }

  private synchronized void look() {
    if (closed) {
      return;
    }
    try {
      publishChanges();
      if (failing) {
        failing = false;
        LOG.log(Level.INFO, "load reports of worker {0} are published again", worker);
      }
    } catch (RuntimeException | Error failure) {
      if (!failing) {
        failing = true;
        LOG.log(
            Level.WARNING, "load reports of worker " + worker + " cannot be published", failure);
      }
    }
    var interval =
        Arrays.stream(published).allMatch(blocks -> blocks == 0) ? IDLE_INTERVAL : INTERVAL;
    sinceRepeat = sinceRepeat.plus(interval);
    next = alarms.after(interval, this::look);
  }

  private void publishChanges() {
    var ranks = report.ranks();
    if (sinceRepeat.compareTo(REPEAT) >= 0 || published.length != ranks.size()) {
      published = new int[ranks.size()];
      Arrays.fill(published, UNPUBLISHED);
      sinceRepeat = Duration.ZERO;
    }
    for (int rank = 0; rank < published.length; rank++) {
      int blocks = ranks.get(rank).heldBlocks();
      if (blocks != published[rank]) {
        var load = ActiveLoad.ofUsedBlocks(new WorkerRank(worker, rank), blocks);
        publisher.publish(ActiveLoadCodec.encode(load));
        published[rank] = blocks;
      }
    }
  }

  /** Stops publishing. Idempotent. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (next != null) {
      next.cancel();
    }
    publisher.close();
  }
}
