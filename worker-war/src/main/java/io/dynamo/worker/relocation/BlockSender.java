package io.dynamo.worker.relocation;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Instance;
import io.dynamo.error.DynamoException;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Copies the KV blocks of a running generation into another worker: offers them, writes them into
 * the region that it lends, and commits. Workers take turns. Safe for concurrent use; blocks its
 * caller.
 */
final class BlockSender implements BlockMover {
  private static final System.Logger LOG = System.getLogger(BlockSender.class.getName());
  private static final Duration LONGEST = Duration.ofSeconds(10); // for one generation

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
    var to = receivers.get();
    if (to.isEmpty() || !CacheScope.of(request).isCommon()) {
      return; // blocks of an adapter or a salt are named apart
    }
    var worker = to.get(Math.floorMod(turn.getAndIncrement(), to.size()));
    try (var blocks = engine.exportBlocks(generation, deadline.within(LONGEST))) {
      if (blocks != null) {
        send(blocks, worker, deadline.within(LONGEST));
      }
    } catch (RuntimeException failure) {
      counters.failures.increment();
      LOG.log(
          Level.WARNING,
          "the KV blocks of a generation did not reach worker {0}, which computes them again: {1}",
          worker.id(),
          DynamoException.kindOf(failure) + ", " + failure.getMessage());
    }
  }

  private void send(KvBlocks blocks, Instance worker, Deadline deadline)
      throws InterruptedException {
    var lent = calls.call(worker, BlockOffer.of(blocks).toMembers(), deadline);
    var address = RegionAddress.of(lent);
    var writing = exchange.write(blocks.bytes(), blocks.byteSize(), address, deadline);
    try {
      writing.await(deadline);
    } catch (RuntimeException | InterruptedException failure) {
      writing.cancel();
      throw failure;
    }
    calls.call(
        worker,
        JsonObject.ordered(
            BlockOffer.OPERATION, BlockOffer.COMMIT, BlockOffer.LEASE, address.lease()),
        deadline);
    counters.tokens.add((long) blocks.count() * blocks.layout().blockTokens());
  }
}
