package io.dynamo.frontend.admission;

import io.dynamo.config.HeapShare;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory that request bodies, and what is made of them, take together. Two areas: requests at
 * work, and requests that wait for their turn. The first bytes of each request are free, so that a
 * small one is never refused for what large ones hold. Where there is no room, bodies that still
 * arrive yield: the one first that has held most for longest, which may be the one that asks. Safe
 * for concurrent use; never waits.
 */
public final class BodyBudget {
  private static final int FREE_BYTES = 16 * 1024;

  /**
   * How much the areas hold.
   *
   * @param freeBytes of each request, beside the areas
   */
  public record Limits(long workBytes, long waitingBytes, int freeBytes) {
    /**
     * The parts that {@link HeapShare} sets aside.
     *
     * @param requests that may be under way together
     */
    public static Limits ofHeap(long heapBytes, int requests) {
      return new Limits(
          HeapShare.REQUESTS_AT_WORK.of(heapBytes),
          HeapShare.WAITING_REQUESTS.of(heapBytes),
          (int) Math.min(FREE_BYTES, HeapShare.SMALL_REQUESTS.of(heapBytes) / requests));
    }
  }

  private final Limits limits;
  private final LongSupplier nanoClock;
  private final Set<Share> arriving = new HashSet<>(); // guarded by this
  private final Map<String, Long> waitingByModel = new HashMap<>(); // guarded by this
  private long workBytes; // guarded by this
  private long waitingBytes; // guarded by this

  public BodyBudget(Limits limits) {
    this(limits, System::nanoTime);
  }

  BodyBudget(Limits limits, LongSupplier nanoClock) {
    this.limits = limits;
    this.nanoClock = nanoClock;
  }

  /** The share of one request, empty at first. */
  public Share open() {
    return new Share();
  }

  /** Bytes held now by requests at work, without those that are free. */
  public synchronized long heldBytes() {
    return workBytes;
  }

  /** Bytes held now by requests that wait for their turn, without those that are free. */
  public synchronized long waitingBytes() {
    return waitingBytes;
  }

  private enum Stage {
    ARRIVING,
    AT_WORK,
    WAITING,
    CLOSED
  }

  /** What one request holds. For one thread at a time; others only make it yield. */
  public final class Share implements AutoCloseable {
    private Stage stage = Stage.ARRIVING; // guarded by the budget, like all that follows
    private long bytes; // charged, without the free ones
    private double byteNanos; // held bytes × time, up to `since`
    private long since = nanoClock.getAsLong();
    private boolean yielded;
    private @Nullable Runnable onYield;

    private Share() {}

    /**
     * {@code release} is run when this share has to yield while its body arrives; it frees the
     * memory, at once and on the thread of another request. What this share does then fails.
     */
    public void onYield(Runnable release) {
      synchronized (BodyBudget.this) {
        onYield = release;
      }
    }

    /**
     * Sets what the body takes while it arrives.
     *
     * @param heldBytes all that is held of it, not less than before
     * @throws ApiException with 503 when there is no room; with 413 when there never can be
     */
    public void arrived(long heldBytes) {
      resize(heldBytes, Stage.ARRIVING);
    }

    /**
     * The body is there; from now on the request takes so much and does not yield.
     *
     * @throws ApiException with 503 when there is no room; with 413 when there never can be
     */
    public void work(long neededBytes) {
      resize(neededBytes, Stage.AT_WORK);
    }

    private void resize(long total, Stage next) {
      long wanted = Math.max(0, total - limits.freeBytes);
      synchronized (BodyBudget.this) {
        if (yielded) {
          throw noRoom();
        }
        if (wanted > limits.workBytes) {
          throw tooLarge(total);
        }
        account(nanoClock.getAsLong());
        if (next == Stage.AT_WORK) {
          arriving.remove(this); // what is there is worth more than what may never be
        }
        long more = wanted - bytes;
        while (more > 0 && workBytes + more > limits.workBytes) {
          var slowest = slowest();
          if (slowest == null || slowest == this) {
            throw noRoom();
          }
          slowest.giveWay();
        }
        bytes = wanted;
        workBytes += more;
        stage = next;
        if (next == Stage.ARRIVING && bytes > 0) {
          arriving.add(this);
        } else {
          arriving.remove(this);
          onYield = null;
        }
      }
    }

    /** Called with the lock. */
    private void account(long now) {
      byteNanos += (double) bytes * (now - since);
      since = now;
    }

    /** Called with the lock. */
    private void giveWay() {
      yielded = true;
      arriving.remove(this);
      workBytes -= bytes;
      bytes = 0;
      if (onYield != null) {
        onYield.run();
        onYield = null;
      }
    }

    /**
     * Moves what the request holds to the area of those that wait, until what is returned is
     * closed. One model gets at most as much as is left free for all others.
     *
     * @throws ApiException with 429 when there is no room
     */
    Parked park(String model) {
      synchronized (BodyBudget.this) {
        long ofModel = waitingByModel.getOrDefault(model, 0L);
        if (bytes > 0 && ofModel + bytes > limits.waitingBytes - waitingBytes - bytes) {
          throw new ApiException(
              ApiError.overloaded(
                  429,
                  ("requests that wait for model `%s` hold %d bytes, this one would add %d, and all"
                          + " models together have %d; retry in 1 s, or send less")
                      .formatted(model, ofModel, bytes, limits.waitingBytes),
                  1));
        }
        waitingByModel.merge(model, bytes, Long::sum);
        waitingBytes += bytes;
        workBytes -= bytes;
        stage = Stage.WAITING;
        return new Parked(model);
      }
    }

    /** The stay of a share among those that wait. */
    final class Parked implements AutoCloseable {
      private final String model;

      private Parked(String model) {
        this.model = model;
      }

      /** Moves it back. There is always room: what all requests hold together does not change. */
      @Override
      public void close() {
        synchronized (BodyBudget.this) {
          if (stage == Stage.WAITING) {
            stage = Stage.AT_WORK;
            waitingByModel.computeIfPresent(
                model, (_, held) -> held == bytes ? null : (Long) (held - bytes));
            waitingBytes -= bytes;
            workBytes += bytes;
          }
        }
      }
    }

    /** Gives back all that was taken. Idempotent; not while it waits. */
    @Override
    public void close() {
      synchronized (BodyBudget.this) {
        if (stage != Stage.CLOSED) {
          stage = Stage.CLOSED;
          arriving.remove(this);
          workBytes -= bytes;
          bytes = 0;
          onYield = null;
        }
      }
    }
  }

  /** Called with the lock. The body that has held most for longest of those that still arrive. */
  private @Nullable Share slowest() {
    Share slowest = null;
    long now = nanoClock.getAsLong();
    for (var share : arriving) {
      share.account(now);
      if (slowest == null || share.byteNanos > slowest.byteNanos) {
        slowest = share;
      }
    }
    return slowest;
  }

  private ApiException noRoom() {
    return new ApiException(
        ApiError.overloaded(
            503,
            ("the requests under way fill the %d bytes that are set aside for request bodies, a"
                    + " part of the heap; the slowest and largest uploads yield first; retry"
                    + " shortly")
                .formatted(limits.workBytes),
            1));
  }

  private ApiException tooLarge(long bytes) {
    return new ApiException(
        413,
        ("this request would take %d bytes of memory, more than the %d bytes that are set aside"
                + " for all request bodies, a part of the heap; send less, or raise -Xmx")
            .formatted(bytes, limits.workBytes));
  }
}
