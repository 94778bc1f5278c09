package io.dynamo.worker.relocation;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.config.plane.TransferSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.json.JsonObject;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.request.EndpointServer;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.wire.JsonCodec;
import io.dynamo.worker.engine.BlockPort;
import io.dynamo.worker.serve.BlockMover;
import io.dynamo.worker.serve.Successors;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;

/**
 * One worker's part in moving KV blocks: its endpoint {@value #ENDPOINT}, which takes blocks, and a
 * mover, which gives them away. Safe for concurrent use.
 */
public final class Relocation implements AutoCloseable {
  /** The name of the endpoint that takes blocks, beside the model's generate endpoint. */
  public static final String ENDPOINT = "receive_kv_blocks";

  /** The maximum number of messages at work at once; more are refused. */
  private static final int AT_ONCE = 16;

  private final EndpointId endpoint;
  private final DynamoRuntime runtime;
  private final BlockReceiver receiver;
  private final BlockSender sender;
  private final Executor blocking;
  private final Semaphore places = new Semaphore(AT_ONCE);
  private final Deque<Runnable> open = new ArrayDeque<>(); // guarded by this

  /**
   * @param generate the model's generate endpoint
   * @param successors the workers that may continue this one's generations
   * @param labels of the metrics
   */
  public Relocation(
      EndpointId generate,
      DynamoRuntime runtime,
      BlockPort engine,
      Successors successors,
      Label... labels) {
    this.endpoint = new EndpointId(generate.namespace(), generate.component(), ENDPOINT);
    this.runtime = runtime;
    this.blocking = runtime.blocking();
    var settings = runtime.settings().transfer();
    var metrics = runtime.metrics();
    this.receiver =
        new BlockReceiver(
            engine,
            runtime.memory(),
            runtime.exchange(),
            limits(settings),
            Alarms.on(runtime.timer()),
            blocking,
            metrics.counter(WorkerMetrics.MOVED_TOKENS_IN, labels));
    this.sender =
        new BlockSender(
            engine,
            () -> receivers(successors),
            new PlaneCalls(runtime.client()),
            runtime.exchange(),
            new BlockSender.Counters(
                metrics.counter(WorkerMetrics.MOVED_TOKENS_OUT, labels),
                metrics.counter(WorkerMetrics.MOVES_FAILED, labels)));
  }

  private static BlockReceiver.Limits limits(TransferSettings settings) {
    return new BlockReceiver.Limits(settings.maxBytes(), settings.lease());
  }

  private List<Instance> receivers(Successors successors) {
    var ids = successors.ids();
    return runtime.instances(endpoint).live().stream()
        .filter(instance -> ids.contains(instance.id()))
        .toList();
  }

  /** Returns the mover of this worker's generations. */
  public BlockMover mover() {
    return sender;
  }

  /** Serves and registers the endpoint; after a failure, {@link #close} undoes what succeeded. */
  public synchronized void open() {
    var id = runtime.discovery().instanceId();
    var format = runtime.settings().tcp().format();
    var served =
        runtime
            .server()
            .<JsonObject, JsonObject>serve(
                endpoint,
                id,
                (message, context) -> answer(message, context.deadline()),
                new JsonCodec(),
                EndpointServer.Room.OWN);
    open.push(served::close);
    var handle =
        runtime.discovery().register(new Instance(endpoint, id, served.address(), "cpu", format));
    open.push(handle::close);
  }

  private Flow.Publisher<JsonObject> answer(JsonObject message, Deadline deadline) {
    if (!places.tryAcquire()) {
      throw new WorkerBusyException("%d offers of blocks are at work already".formatted(AT_ONCE));
    }
    var answer = new ItemStream<JsonObject>(1, () -> {}, () -> {});
    try {
      blocking.execute(
          () -> {
            try {
              var _ = answer.offer(JsonObject.of(receiver.answer(message, deadline)));
              answer.complete();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
              answer.fail(new WorkerBusyException("the worker stops"));
            } catch (RuntimeException | Error failure) {
              answer.fail(failure);
            } finally {
              places.release();
            }
          });
    } catch (RejectedExecutionException stopped) {
      places.release();
      throw new WorkerBusyException("the worker stops");
    }
    return answer;
  }

  /** Stops accepting blocks, and ends all offers. Idempotent. */
  @Override
  public synchronized void close() {
    while (!open.isEmpty()) {
      open.pop().run();
    }
    receiver.close();
  }
}
