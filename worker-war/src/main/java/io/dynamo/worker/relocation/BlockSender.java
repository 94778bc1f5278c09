package io.dynamo.worker.relocation;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.DynamoException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.json.JsonObject;
import io.dynamo.metrics.Metrics;
import io.dynamo.request.RequestContext;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.worker.engine.BlockPort;
import io.dynamo.worker.engine.CacheScope;
import io.dynamo.worker.engine.KvBlocks;
import io.dynamo.worker.serve.BlockMover;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Copies the KV blocks of a running generation into another worker: offers them, writes them into
 * the region that it lends, and commits. Workers take turns; one that fails is not asked again.
 * Safe for concurrent use; blocks its caller.
 */
final class BlockSender implements BlockMover {
  private static final System.Logger LOG = System.getLogger(BlockSender.class.getName());
  private static final Duration LONGEST = Duration.ofSeconds(10); // for one generation
  private static final Duration ABORT_LIMIT = Duration.ofSeconds(1);

  /** Sends a message to a worker, and waits for its answer. */
  @FunctionalInterface
  interface Calls {
    /**
     * @throws DynamoException when there is no answer
     */
    JsonObject call(Instance worker, Map<String, @Nullable Object> message, Deadline deadline)
        throws InterruptedException;
  }

  /** The counters of moves. */
  record Counters(Metrics.Counter tokens, Metrics.Counter failures) {}

  private final BlockPort engine;
  private final Supplier<List<Instance>> receivers;
  private final Calls calls;
  private final RegionExchange exchange;
  private final Counters counters;
  private final AtomicInteger turn = new AtomicInteger();
  private final Set<InstanceId> failed = ConcurrentHashMap.newKeySet(); // at most all receivers

  /**
   * @param receivers the workers that may continue and take blocks, at this moment
   */
  BlockSender(
      BlockPort engine,
      Supplier<List<Instance>> receivers,
      Calls calls,
      RegionExchange exchange,
      Counters counters) {
    this.engine = engine;
    this.receivers = receivers;
    this.calls = calls;
    this.exchange = exchange;
    this.counters = counters;
  }

  @Override
  public void move(GenerateRequest request, RequestContext generation, Deadline deadline)
      throws InterruptedException {
    var until = deadline.within(LONGEST);
    try {
      var worker = CacheScope.of(request).isCommon() ? nextReceiver() : null;
      if (worker == null) {
        return; // nobody to take them, or blocks of an adapter or a salt, which are named apart
      }
      try (var blocks = engine.exportBlocks(generation, until)) {
        if (blocks != null) {
          send(blocks, worker, until);
        }
      }
    } catch (RuntimeException failure) {
      counters.failures.increment();
      LOG.log(
          Level.WARNING,
          "the KV blocks of a generation were not moved and are computed again: {0}; workers that"
              + " are not asked any more: {1}",
          DynamoException.kindOf(failure) + ", " + failure.getMessage(),
          failed);
    }
  }

  private @Nullable Instance nextReceiver() {
    var to = receivers.get().stream().filter(one -> !failed.contains(one.id())).toList();
    return to.isEmpty() ? null : to.get(Math.floorMod(turn.getAndIncrement(), to.size()));
  }

  private void send(KvBlocks blocks, Instance worker, Deadline until) throws InterruptedException {
    try {
      var lent = calls.call(worker, BlockOffer.of(blocks).toMembers(), until);
      write(blocks, worker, RegionAddress.of(lent), until);
    } catch (WorkerBusyException full) {
      throw full; // it answers at once, and may have room for the next one
    } catch (RuntimeException failure) {
      failed.add(worker.id());
      throw failure;
    }
    counters.tokens.add((long) blocks.count() * blocks.layout().blockTokens());
  }

  private void write(KvBlocks blocks, Instance worker, RegionAddress address, Deadline until)
      throws InterruptedException {
    try {
      var writing = exchange.write(blocks.bytes(), blocks.byteSize(), address, until);
      try {
        writing.await(until);
      } catch (RuntimeException | InterruptedException failure) {
        writing.cancel();
        throw failure;
      }
      var _ = calls.call(worker, BlockOffer.message(BlockOffer.COMMIT, address.lease()), until);
    } catch (RuntimeException
        | InterruptedException failure) { // a drain interrupts at its deadline
      abort(worker, address);
      throw failure;
    }
  }

  /**
   * Lets the worker free the memory of an offer that will not be committed; else its lease does.
   */
  private void abort(Instance worker, RegionAddress address) throws InterruptedException {
    try {
      var message = BlockOffer.message(BlockOffer.ABORT, address.lease());
      var _ = calls.call(worker, message, Deadline.after(ABORT_LIMIT));
    } catch (RuntimeException failure) {
      LOG.log(
          Level.DEBUG,
          "worker {0} did not get the message that an offer was given up: {1}",
          worker.id(),
          failure.getMessage());
    }
  }
}
