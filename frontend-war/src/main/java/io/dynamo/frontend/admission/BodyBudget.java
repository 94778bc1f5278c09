package io.dynamo.frontend.admission;

import io.dynamo.config.memory.HeapShare;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the memory of all request bodies and of the objects parsed from them. There are two areas:
 * running requests and waiting requests. The first bytes of each request are free, so that a small
 * one is never refused because of large ones. When an area is full, bodies that are still arriving
 * are dropped: first the one with the largest product of bytes and time, which may be the one that
 * asks. Safe for concurrent use; never waits.
 */
public final class BodyBudget {
  private static final int FREE_BYTES = 16 * 1024;

  /**
   * The sizes of the areas.
   *
   * @param freeBytes not charged, for each request
   */
  public record Limits(long workBytes, long waitingBytes, int freeBytes) {
    /**
     * The parts of the heap that {@link HeapShare} sets aside.
     *
     * @param requests the largest number of concurrent requests
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

  /** Opens the share of one request, empty at first. */
  public Share open() {
    return new Share();
  }

  /** Bytes charged to running requests now. */
  public synchronized long heldBytes() {
    return workBytes;
  }

  /** Bytes charged to waiting requests now. */
  public synchronized long waitingBytes() {
    return waitingBytes;
  }

  private enum Phase {
    ARRIVING,
    AT_WORK,
    WAITING,
    CLOSED
  }

  /**
   * The memory that is charged to one request. For one thread at a time; others only make it yield.
   */
  public final class Share implements AutoCloseable {
    private Phase phase = Phase.ARRIVING; // guarded by the budget, like all that follows
    private long bytes; // charged, without the free ones
    private double byteNanos; // held bytes × time, up to `since`
    private long since = nanoClock.getAsLong();
    private boolean yielded;
    private @Nullable Runnable onYield;
    private List<Runnable> onClose = List.of(); // most requests hold no such memory

    private Share() {}

    /**
     * Sets the task that frees the body's memory when this share must yield while the body arrives.
     * It runs on the thread of another request. Later charges to this share fail.
     */
    public void onYield(Runnable release) {
      synchronized (BodyBudget.this) {
        onYield = release;
      }
    }

    /**
     * Adds what frees memory beside the heap that the request holds to its end. Runs at once when
     * the share is closed already.
     */
    public void onClose(Runnable release) {
      synchronized (BodyBudget.this) {
        if (phase != Phase.CLOSED) {
          if (onClose.isEmpty()) {
            onClose = new ArrayList<>();
          }
          onClose.add(release);
          return;
        }
      }
      run(release);
    }

    /** Frees the memory of a body that is still arriving; later charges to this share fail. */
    public void giveUp() {
      synchronized (BodyBudget.this) {
        if (phase == Phase.ARRIVING && !yielded) {
          giveWay();
        }
      }
    }

    /**
     * Charges a body that arrives, or a file that leaves: what may yield to other requests.
     *
     * @param heldBytes the bytes held in total
     * @throws ApiException with 503 when there is no room; with 413 when there never can be
     */
    public void chargeArrived(long heldBytes) {
      resize(heldBytes, Phase.ARRIVING);
    }

    /**
     * Charges a request whose body is complete. It does not yield from here on.
     *
     * @throws ApiException with 503 when there is no room; with 413 when there never can be
     */
    public void chargeComplete(long neededBytes) {
      resize(neededBytes, Phase.AT_WORK);
    }

    private void resize(long total, Phase next) {
      long wanted = Math.max(0, total - limits.freeBytes);
      synchronized (BodyBudget.this) {
        if (yielded) {
          throw noRoom();
        }
        if (wanted > limits.workBytes) {
          throw tooLarge(total);
        }
        account(nanoClock.getAsLong());
        if (next == Phase.AT_WORK) {
          arriving.remove(this); // a complete body is kept before one that may never be
        }
        long more = wanted - bytes;
        makeRoom(more);
        bytes = wanted;
        workBytes += more;
        phase = next;
        if (next == Phase.AT_WORK) {
          arriving.remove(this);
          onYield = null;
        } else if (bytes > 0) {
          arriving.add(this);
        }
      }
    }

    /**
     * Charges the bytes of an answer that is gathered until it is whole, beside its request.
     *
     * @param moreBytes since the last call; nothing is released that a closed share has released
     * @throws ApiException with 503 when there is no room, or the share is closed
     */
    public void gather(long moreBytes) {
      synchronized (BodyBudget.this) {
        if (phase == Phase.CLOSED) {
          if (moreBytes > 0) {
            throw noRoom();
          }
          return;
        }
        makeRoom(moreBytes);
        bytes += moreBytes;
        workBytes += moreBytes;
      }
    }

    /** Called with the lock. */
    private void makeRoom(long more) {
      while (more > 0 && workBytes + more > limits.workBytes) {
        var slowest = slowest();
        if (slowest == null || slowest == this) {
          throw noRoom();
        }
        slowest.giveWay();
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
     * Moves the request's charge to the area of waiting requests until the returned object is
     * closed. One model gets at most as much of that area as stays free for all others.
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
        phase = Phase.WAITING;
        return new Parked(model);
      }
    }

    /** The time during which a share is charged to waiting requests. */
    final class Parked implements AutoCloseable {
      private final String model;

      private Parked(String model) {
        this.model = model;
      }

      /** Moves the charge back. There is always room, as the total does not change. */
      @Override
      public void close() {
        synchronized (BodyBudget.this) {
          if (phase == Phase.WAITING) {
            phase = Phase.AT_WORK;
            waitingByModel.computeIfPresent(
                model, (_, held) -> held == bytes ? null : (Long) (held - bytes));
            waitingBytes -= bytes;
            workBytes += bytes;
          }
        }
      }
    }

    /** Frees the whole charge. Idempotent; not called while the request waits. */
    @Override
    public void close() {
      List<Runnable> releases;
      synchronized (BodyBudget.this) {
        if (phase == Phase.CLOSED) {
          return;
        }
        phase = Phase.CLOSED;
        arriving.remove(this);
        workBytes -= bytes;
        bytes = 0;
        onYield = null;
        releases = onClose;
        onClose = List.of();
      }
      releases.forEach(BodyBudget::run);
    }
  }

  /** The arriving body with the largest product of bytes and time. Called with the lock. */
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
            ("the requests under way fill the %d bytes that are set aside for request bodies and"
                    + " whole answers, a part of the heap; the slowest and largest uploads yield"
                    + " first; retry shortly, or let the answer be streamed")
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

  /** Frees something; others are freed, too, when that fails. */
  private static void run(Runnable release) {
    try {
      release.run();
    } catch (RuntimeException e) {
      System.getLogger(BodyBudget.class.getName())
          .log(System.Logger.Level.ERROR, "memory of a request was not freed", e);
    }
  }
}
