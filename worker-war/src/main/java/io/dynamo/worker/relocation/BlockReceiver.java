package io.dynamo.worker.relocation;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.json.JsonObject;
import io.dynamo.metrics.Metrics;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.worker.engine.BlockPort;
import io.dynamo.worker.engine.KvBlocks;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Takes KV blocks that another worker offers: lends it a region to write them into, and on its
 * commit checks every block and adds them to the engine's cache. Safe for concurrent use; blocks
 * its caller.
 *
 * <p>An offer that is not committed ends with an abort or its lease, and its memory is freed; a
 * block that was not committed, or is damaged, is never visible to the engine.
 */
final class BlockReceiver implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(BlockReceiver.class.getName());

  /**
   * Where the blocks go, and how many bytes of them may wait.
   *
   * @param lease how long an offer may take until its commit
   */
  record Limits(long maxBytes, Duration lease) {}

  /** An offer between its acceptance and its end. */
  private final class Accepted {
    private final BlockOffer offer;
    private final Region region;
    private final RegionExchange.Export export;
    private Alarms.@Nullable Alarm expiry; // guarded by this, like ended
    private boolean ended;

    Accepted(BlockOffer offer, Region region, RegionExchange.Export export) {
      this.offer = offer;
      this.region = region;
      this.export = export;
    }

    synchronized void expireBy(Alarms.Alarm alarm) {
      expiry = alarm;
      if (ended) {
        alarm.cancel();
      }
    }

    KvBlocks blocks() {
      return new KvBlocks(offer.layout(), offer.tokens(), offer.checksums(), region);
    }

    /** Frees the memory; only the first call counts. */
    void end() {
      synchronized (this) {
        if (ended) {
          return;
        }
        ended = true;
        if (expiry != null) {
          expiry.cancel();
        }
      }
      region.close(); // first: the export then has no bytes to keep
      export.close();
      waitingBytes.addAndGet(-region.byteSize());
    }
  }

  private final BlockPort engine;
  private final HostMemory memory;
  private final RegionExchange exchange;
  private final Limits limits;
  private final Alarms alarms;
  private final Executor blocking;
  private final Metrics.Counter savedTokens;
  private final Map<Long, Accepted> accepted = new ConcurrentHashMap<>(); // by lease
  private final AtomicLong waitingBytes = new AtomicLong();
  private volatile boolean closed;

  /**
   * @param blocking ends offers whose lease is over: unmapping memory is nothing for a timer
   * @param savedTokens counts the tokens that the engine need not compute
   */
  BlockReceiver(
      BlockPort engine,
      HostMemory memory,
      RegionExchange exchange,
      Limits limits,
      Alarms alarms,
      Executor blocking,
      Metrics.Counter savedTokens) {
    this.engine = engine;
    this.memory = memory;
    this.exchange = exchange;
    this.limits = limits;
    this.alarms = alarms;
    this.blocking = blocking;
    this.savedTokens = savedTokens;
  }

  /**
   * Answers one message: the address to write to for an offer, the number of blocks taken for a
   * commit or an abort.
   *
   * @throws InvalidRequestException when the message is of no use, or its blocks are damaged
   * @throws WorkerBusyException when too many bytes are on their way here
   */
  Map<String, @Nullable Object> answer(JsonObject message, Deadline deadline)
      throws InterruptedException {
    String operation;
    @Nullable Long lease;
    try {
      operation = message.text(BlockOffer.OPERATION);
      lease = message.optionalLong(BlockOffer.LEASE);
    } catch (IllegalArgumentException wrong) {
      throw new InvalidRequestException("a message about KV blocks: " + wrong.getMessage());
    }
    return switch (operation) {
      case BlockOffer.OFFER -> accept(BlockOffer.of(message));
      case BlockOffer.COMMIT -> commit(lease, deadline);
      case BlockOffer.ABORT -> abort(lease);
      default -> throw new InvalidRequestException("\"op\" is neither offer, commit nor abort");
    };
  }

  private Map<String, @Nullable Object> accept(BlockOffer offer) {
    engine.layout().requireFits(offer.layout(), offer.tokens().length, offer.count());
    if (offer.count() == 0) {
      throw new InvalidRequestException("an offer of no KV blocks");
    }
    long bytes = Math.multiplyExact(offer.layout().blockBytes(), offer.count());
    reserve(bytes);
    Region region;
    try {
      region = memory.allocateShared(bytes);
    } catch (RuntimeException failure) {
      waitingBytes.addAndGet(-bytes);
      throw failure;
    }
    RegionExchange.Export export;
    try {
      export = exchange.export(region, limits.lease);
    } catch (RuntimeException failure) {
      region.close();
      waitingBytes.addAndGet(-bytes);
      throw failure;
    }
    var one = new Accepted(offer, region, export);
    long lease = export.address().lease();
    accepted.put(lease, one);
    try {
      one.expireBy(alarms.after(limits.lease, () -> expire(lease)));
    } catch (RejectedExecutionException stopped) {
      end(lease);
      throw new WorkerBusyException("the worker stops");
    }
    if (closed) {
      end(lease); // a close in the meantime may have missed it
      throw new WorkerBusyException("the worker stops");
    }
    return export.address().toMembers();
  }

  private void reserve(long bytes) {
    long before = waitingBytes.getAndUpdate(now -> fits(now, bytes) ? now + bytes : now);
    if (!fits(before, bytes)) {
      throw new WorkerBusyException(
          "%d bytes of KV blocks, with %d on their way here, exceed dynamo.transfer.max-bytes %d"
              .formatted(bytes, before, limits.maxBytes));
    }
  }

  private boolean fits(long now, long bytes) {
    return bytes <= limits.maxBytes - now;
  }

  private Map<String, @Nullable Object> commit(@Nullable Long lease, Deadline deadline)
      throws InterruptedException {
    var one = lease == null ? null : accepted.remove(lease);
    if (one == null) {
      throw new InvalidRequestException("no such offer of KV blocks; its lease may be over");
    }
    try {
      one.export.close(); // what is checked from here on stays as it is
      int taken = engine.importBlocks(one.blocks(), deadline);
      savedTokens.add((long) taken * one.offer.layout().blockTokens());
      return JsonObject.ordered(BlockOffer.BLOCKS, taken);
    } finally {
      one.end();
    }
  }

  /** Frees the memory of an offer; of no effect on one that has ended. */
  private Map<String, @Nullable Object> abort(@Nullable Long lease) {
    if (lease == null) {
      throw new InvalidRequestException("an abort names the lease of an offer");
    }
    end(lease);
    return JsonObject.ordered(BlockOffer.BLOCKS, 0);
  }

  private void expire(long lease) {
    try {
      blocking.execute(() -> end(lease));
    } catch (RejectedExecutionException stopped) {
      LOG.log(Level.DEBUG, "an offer of KV blocks ends with its worker", stopped);
    }
  }

  private void end(long lease) {
    var one = accepted.remove(lease);
    if (one != null) {
      one.end();
    }
  }

  /** Returns the bytes that are lent to other workers. */
  long waitingBytes() {
    return waitingBytes.get();
  }

  /** Ends all offers. Idempotent. */
  @Override
  public void close() {
    closed = true;
    accepted.keySet().forEach(this::end);
  }
}
