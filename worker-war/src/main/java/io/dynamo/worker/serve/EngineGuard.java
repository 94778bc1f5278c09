package io.dynamo.worker.serve;

import io.dynamo.concurrent.Alarms;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.FailureShape;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Guards requesters against an engine's failures: each failure becomes a typed error in bounded
 * time, and is reported to the endpoint's health: as a suspicion where one request may be at fault,
 * so that a probe decides; as a fact where a rank has gone silent. Safe for concurrent use.
 *
 * <p>A rank is silent when a requester waits for an item of it and neither an item nor a pass came
 * for the limit. Until it shows a sign of life again, only probes are sent to it.
 */
public final class EngineGuard implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(EngineGuard.class.getName());
  private static final int LOOKS_PER_LIMIT = 4;

  /** Receives the failures of the engine. Must not block. */
  public interface Listener {
    /** Called on a failure that may be temporary. */
    void suspected(String why);

    /** Called when the engine does not work. */
    void failed(String why);
  }

  private final ItemRules law;
  private final Duration limit;
  private final Alarms alarms;
  private final LongSupplier nanoTime;
  private volatile List<RankWatch> ranks = List.of(); // the last entry: the engine chooses
  private volatile @Nullable Listener listener;
  private Alarms.@Nullable Alarm next; // guarded by this
  private boolean closed; // guarded by this
  private volatile boolean watching; // written under this

  /**
   * @param vocabulary token ids must be below this
   * @param limit how long a rank may be silent while a requester waits; zero for no limit
   */
  public EngineGuard(int vocabulary, Duration limit, Alarms alarms, LongSupplier nanoTime) {
    this.law = new ItemRules(vocabulary);
    this.limit = limit;
    this.alarms = alarms;
    this.nanoTime = nanoTime;
  }

  /**
   * Starts watching an engine that has just started; the state of an earlier one is discarded.
   *
   * @param count the engine's number of ranks
   */
  public synchronized void start(int count, Listener to) {
    var watches = new ArrayList<RankWatch>();
    for (int rank = 0; rank < count; rank++) {
      watches.add(new RankWatch("rank " + rank, nanoTime));
    }
    watches.add(new RankWatch("the rank of its choice", nanoTime));
    ranks = List.copyOf(watches);
    listener = to;
    watching = !closed;
    if (!limit.isZero()) {
      lookLater();
    }
  }

  /**
   * Stops watching, since the engine is about to be stopped and its failures mean nothing.
   * Idempotent.
   */
  public synchronized void pause() {
    watching = false;
    if (next != null) {
      next.cancel();
      next = null;
    }
  }

  private void lookLater() { // caller holds this
    if (next != null) {
      next.cancel();
    }
    next = !watching ? null : alarms.after(limit.dividedBy(LOOKS_PER_LIMIT), this::look);
  }

  private void look() {
    try {
      for (var rank : ranks) {
        if (watching && rank.isOverdue(limit)) {
          giveUp(rank, "%s has shown no sign of life for %s".formatted(rank.name(), limit));
        }
      }
    } finally {
      synchronized (this) {
        lookLater();
      }
    }
  }

  private void giveUp(RankWatch rank, String why) {
    LOG.log(Level.ERROR, "the engine does not work: {0}", why);
    rank.giveUp(
        new WorkerLostException(
            ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the engine does not work: " + why));
    var to = listener;
    if (to != null) {
      to.failed(why);
    }
  }

  /** Returns the engine's answer to {@code request}, with the rules of a stream enforced. */
  Flow.Publisher<EngineOutput> guard(
      Flow.Publisher<EngineOutput> answer, GenerateRequest request, RequestContext context) {
    var rank = watch(request.routing().rank());
    return to -> answer.subscribe(new GuardedStream(this, rank, context.cancellation(), to));
  }

  /** Converts an exception of the engine to the error that the requester gets. */
  DynamoException refused(GenerateRequest request, RuntimeException cause) {
    return judge(watch(request.routing().rank()), cause);
  }

  private RankWatch watch(@Nullable Integer rank) {
    var all = ranks;
    if (rank != null) {
      return all.get(Math.clamp(rank, 0, all.size() - 1)); // an unknown rank is refused later
    }
    return all.size() == 2 ? all.getFirst() : all.getLast(); // one rank leaves no choice
  }

  /**
   * Refuses a request for a rank that is silent.
   *
   * @throws WorkerLostException when the rank is silent, so that the requester tries another worker
   */
  void requireSign(GenerateRequest request) {
    var rank = watch(request.routing().rank());
    if (rank.isSilent()) {
      throw new WorkerLostException(
          ErrorCode.BACKEND_ENGINE_SHUTDOWN,
          "the engine does not work: %s is silent".formatted(rank.name()));
    }
  }

  /** Records that a pass of {@code rank} has ended. */
  public void passed(int rank) {
    var all = ranks;
    if (rank < all.size() - 1) {
      sign(all.get(rank));
      sign(all.getLast());
    }
  }

  /** Records a sign of life; returns its time. */
  long sign(RankWatch rank) {
    if (rank.isSilent()) {
      LOG.log(Level.INFO, "{0} of the engine works again", rank.name());
    }
    return rank.sign();
  }

  /**
   * Whether any rank is silent; while one is, an answer of another rank does not prove the engine
   * healthy.
   */
  public boolean isAnySilent() {
    for (var rank : ranks) {
      if (rank.isSilent()) {
        return true;
      }
    }
    return false;
  }

  /** Returns a rank that a probe should test; null when the engine may choose. */
  public @Nullable Integer rankInDoubt() {
    var all = ranks;
    for (int rank = 0; rank < all.size() - 1; rank++) {
      if (all.get(rank).isSilent()) {
        return rank;
      }
    }
    return null;
  }

  ItemRules law() {
    return law;
  }

  /**
   * Evaluates an error of the engine, and reports it to the listener.
   *
   * @return the requester's error: {@code cause} when it has a type, else one to migrate on
   */
  DynamoException judge(RankWatch rank, Throwable cause) {
    if (!watching && cause instanceof DynamoException typed) {
      return typed;
    }
    return switch (cause) {
      case WorkerLostException lost -> {
        if (lost.code() == ErrorCode.BACKEND_ENGINE_SHUTDOWN) {
          giveUp(rank, "%s has ended: %s".formatted(rank.name(), lost.getMessage()));
        } else {
          suspect(rank, String.valueOf(lost.getMessage()), null);
        }
        yield lost;
      }
      case EngineFailedException failed -> {
        suspect(rank, String.valueOf(failed.getMessage()), null);
        yield failed;
      }
      case DynamoException typed -> typed;
      default -> {
        suspect(rank, "it failed: " + cause.getClass().getName(), FailureShape.of(cause));
        yield new WorkerLostException(
            ErrorCode.BACKEND_STREAM_INCOMPLETE,
            "the engine failed: " + cause.getClass().getSimpleName(),
            cause);
      }
    };
  }

  void suspect(RankWatch rank, String why, @Nullable Throwable cause) {
    if (!watching) {
      return;
    }
    LOG.log(Level.WARNING, "the engine is suspect, " + rank.name() + ": " + why, cause);
    var to = listener;
    if (to != null) {
      to.suspected(why);
    }
  }

  /** Stops watching for good; guarded streams continue. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    pause();
  }
}
