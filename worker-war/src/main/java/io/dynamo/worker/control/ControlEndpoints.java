package io.dynamo.worker.control;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.json.JsonObject;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.EndpointServer;
import io.dynamo.wire.JsonCodec;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Serves the operator commands of one model's worker on the request plane, each as an endpoint of
 * its component under Dynamo's name. Safe for concurrent use.
 */
public final class ControlEndpoints implements AutoCloseable {
  /** The maximum number of commands at work at once; more are refused. */
  static final int AT_ONCE = 16;

  private final EndpointId generate;
  private final PayloadFormat format;
  private final EndpointServer server;
  private final Discovery discovery;
  private final Executor blocking;
  private final Semaphore places = new Semaphore(AT_ONCE);
  private final Deque<Runnable> open = new ArrayDeque<>(); // guarded by this

  /**
   * @param generate the model's generate endpoint; the commands are served beside it, in the same
   *     component
   * @param blocking runs each command on a thread of its own
   */
  public ControlEndpoints(
      EndpointId generate,
      PayloadFormat format,
      EndpointServer server,
      Discovery discovery,
      Executor blocking) {
    this.generate = generate;
    this.format = format;
    this.server = server;
    this.discovery = discovery;
    this.blocking = blocking;
  }

  /**
   * Serves and registers the commands; after a failure, {@link #close} undoes the steps that
   * succeeded.
   */
  public synchronized void open(ModelControls model) {
    serve("clear_kv_blocks", _ -> model.clearKvBlocks());
    if (model.adapters().isEnabled()) {
      serve("load_lora", model::loadLora);
      serve("unload_lora", model::unloadLora);
      serve("list_loras", _ -> model.listLoras());
    }
  }

  private void serve(String name, Function<JsonObject, Map<String, @Nullable Object>> command) {
    var endpoint = new EndpointId(generate.namespace(), generate.component(), name);
    var id = discovery.instanceId();
    EndpointHandler<JsonObject, JsonObject> handler = (body, _) -> answer(command, body);
    var served = server.serve(endpoint, id, handler, new JsonCodec(), EndpointServer.Room.OWN);
    open.push(served::close);
    var handle = discovery.register(new Instance(endpoint, id, served.address(), "cpu", format));
    open.push(handle::close);
  }

  private Flow.Publisher<JsonObject> answer(
      Function<JsonObject, Map<String, @Nullable Object>> command, JsonObject body) {
    if (!places.tryAcquire()) {
      throw new WorkerBusyException("%d commands are at work already".formatted(AT_ONCE));
    }
    var answer = new ItemStream<JsonObject>(1, () -> {}, () -> {});
    try {
      blocking.execute(
          () -> {
            try {
              var _ = answer.offer(JsonObject.of(command.apply(body))); // room for one item
              answer.complete();
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

  /** Unregisters and closes the endpoints, the latest first. Idempotent. */
  @Override
  public synchronized void close() {
    while (!open.isEmpty()) {
      open.pop().run();
    }
  }
}
