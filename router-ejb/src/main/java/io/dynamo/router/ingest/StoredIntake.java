package io.dynamo.router.ingest;

import io.dynamo.concurrent.Alarms;
import io.dynamo.event.EventHistory;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.event.StoredPosition;
import io.dynamo.event.UnreadableSnapshotException;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.wire.event.EventEnvelope;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Feeds an intake from stored events: first the snapshot, then the events after it, then those that
 * arrive. Until all that is stored has been read, and whenever the store is out of reach, the
 * intake counts nothing as cached. Writes a snapshot when many events are stored. Safe for
 * concurrent use.
 */
final class StoredIntake implements EventHistory.Listener, AutoCloseable {
  /** The time between two looks at how many events are stored, and between attempts to begin. */
  static final Duration LOOK = Duration.ofSeconds(1);

  private static final System.Logger LOG = System.getLogger(StoredIntake.class.getName());
  private static final int WAITING_MESSAGES = 1024;

  private final EventHistory history;
  private final EventSubject subject;
  private final EventIntake intake;
  private final MirrorFormat format;
  private final Alarms alarm;
  private final Executor executor;
  private final Metrics.Counter written;
  private final Metrics.Counter failed;
  private final Semaphore room = new Semaphore(WAITING_MESSAGES);
  private volatile boolean closed;
  private boolean failing; // by one look at a time
  private boolean refused; // whether the log names a snapshot that is none; as failing
  private EventPlane.@Nullable Subscription subscription; // guarded by this

  StoredIntake(
      EventHistory history,
      EventSubject subject,
      EventIntake intake,
      MirrorFormat format,
      Alarms alarm,
      Executor executor,
      Metrics metrics) {
    this.history = history;
    this.subject = subject;
    this.intake = intake;
    this.format = format;
    this.alarm = alarm;
    this.executor = executor;
    this.written = metrics.counter(RouterMetrics.SNAPSHOTS, new Label("result", "written"));
    this.failed = metrics.counter(RouterMetrics.SNAPSHOTS, new Label("result", "failed"));
  }

  /** Begins on the executor, and tries again while the store is away. */
  void open() {
    executor.execute(this::begin);
  }

  private void begin() {
    if (closed) {
      return;
    }
    try {
      var position = restore();
      var started = history.replay(subject, position, this);
      synchronized (this) {
        subscription = started;
      }
      failing = false;
      if (closed) {
        close();
      } else {
        again(this::look);
      }
    } catch (IOException | IllegalStateException e) {
      report("stored events of %s cannot be read yet".formatted(subject), e);
      again(this::begin);
    }
  }

  private void again(Runnable task) {
    alarm.after(
        LOOK,
        () -> {
          if (!closed) {
            executor.execute(task);
          }
        });
  }

  private void report(String what, Exception why) {
    LOG.log(failing ? Level.DEBUG : Level.WARNING, what, why);
    failing = true;
  }

  /** Gives the snapshot to the intake; returns the position of its last event. */
  private StoredPosition restore() throws IOException {
    var snapshot = snapshot();
    var span = history.span(subject);
    if (snapshot == null) {
      return span.start();
    }
    var end = snapshot.position();
    if (!span.continues(end)) {
      LOG.log(
          Level.WARNING,
          end.life() == span.life()
              ? "the snapshot of {0} ends at {1} and the stored events begin after {2} and end at"
                  + " {3}: it is not used"
              : "the snapshot of {0} ends at {1} of stored events that are gone, those that are"
                  + " there begin after {2} and end at {3}: it is not used",
          subject,
          end.number(),
          span.start().number(),
          span.last());
      return span.start();
    }
    try {
      intake.restore(end, format.read(snapshot.content()));
      return end;
    } catch (IOException e) {
      LOG.log(Level.WARNING, "the snapshot of " + subject + " is not used", e);
      return span.start();
    }
  }

  private EventHistory.@Nullable Snapshot snapshot() throws IOException {
    try {
      return history.snapshot(subject);
    } catch (UnreadableSnapshotException e) {
      if (!refused) {
        refused = true;
        LOG.log(
            Level.WARNING,
            "the snapshot of {0} is not used: {1}; this router begins with the stored events, and"
                + " the next snapshot replaces it",
            subject,
            e.getMessage());
      }
      return null;
    }
  }

  @Override
  public void event(StoredPosition position, EventEnvelope event) {
    try {
      while (!room.tryAcquire(1, TimeUnit.SECONDS)) {
        if (closed) {
          return;
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return;
    }
    intake.acceptStored(position, event, room::release);
  }

  @Override
  public void caughtUp() {
    intake.caughtUp();
  }

  @Override
  public void gap() {
    intake.missStored();
  }

  @Override
  public void cut() {
    intake.cut(_ -> true);
  }

  private void look() {
    if (closed) {
      return;
    }
    intake.expireStored();
    try {
      if (history.span(subject).count() > history.snapshotThreshold()) {
        intake.capture(
            (position, states) ->
                executor.execute(
                    () -> {
                      write(position, states);
                      again(this::look);
                    }));
        return;
      }
    } catch (IOException | IllegalStateException e) {
      LOG.log(Level.DEBUG, "stored events of " + subject + " cannot be counted", e);
    }
    again(this::look);
  }

  private void write(@Nullable StoredPosition position, List<RankMirrors.State> states) {
    if (position == null) {
      return; // not all is read yet
    }
    try {
      var content = format.write(states);
      if (content.length > EventHistory.MAX_SNAPSHOT_BYTES) {
        throw new IOException("it would have %d bytes".formatted(content.length));
      }
      if (history.save(subject, new EventHistory.Snapshot(position, content))) {
        long purged = history.purge(subject, position);
        written.increment();
        LOG.log(
            Level.INFO,
            "wrote a snapshot of {0}: {1} ranks in {2} bytes in place of {3} messages",
            subject,
            states.size(),
            content.length,
            purged);
      }
      failing = false;
    } catch (IOException | IllegalStateException e) {
      failed.increment();
      report("a snapshot of %s is not written".formatted(subject), e);
    }
  }

  @Override
  public void close() {
    closed = true;
    EventPlane.Subscription started;
    synchronized (this) {
      started = subscription;
      subscription = null;
    }
    if (started != null) {
      started.close();
    }
  }
}
