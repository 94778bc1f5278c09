package io.dynamo.worker.wiring;

import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.OwnThread;
import io.dynamo.config.Role;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.MessageCodec;
import io.dynamo.runtime.wiring.RuntimeLifecycle;
import io.dynamo.worker.WorkerService;
import io.dynamo.worker.engine.LoadReport;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** Holds the worker of this server, if it plays one. Safe for concurrent use. */
@ApplicationScoped
public class WorkerHolder {
  private static final System.Logger LOG = System.getLogger(WorkerHolder.class.getName());

  /**
   * What the worker is at this moment.
   *
   * @param ready whether it serves and its endpoint is in good health
   * @param memoryKind {@code native} or {@code java}
   */
  public record Status(
      WorkerService.State state, boolean ready, LoadReport load, String memoryKind) {}

  private final @Nullable RuntimeLifecycle lifecycle; // null in the client proxy only
  private final @Nullable MessageCodec<GenerateRequest, EngineOutput> codec;
  private volatile @Nullable WorkerRole role;

  /** For the container's client proxy. */
  protected WorkerHolder() {
    this.lifecycle = null;
    this.codec = null;
  }

  @Inject
  WorkerHolder(RuntimeLifecycle lifecycle, MessageCodec<GenerateRequest, EngineOutput> codec) {
    this.lifecycle = lifecycle;
    this.codec = codec;
  }

  /** Starts the worker when {@code dynamo.roles} has it. */
  synchronized void start() {
    if (lifecycle == null || codec == null || role != null) {
      return;
    }
    var runtime = lifecycle.runtime();
    if (!runtime.settings().server().roles().contains(Role.WORKER)) {
      return;
    }
    var generate = codec;
    var started = OwnThread.call("worker-start", () -> WorkerRole.start(runtime, generate));
    role = started;
    lifecycle.attach(started);
  }

  /** Stops the worker with its web module. */
  synchronized void stop() {
    var stopping = role;
    if (stopping != null && lifecycle != null) {
      role = null;
      lifecycle.detach(stopping);
    }
  }

  /** Null when this server plays no worker. */
  public @Nullable Status status() {
    var at = role;
    return at == null ? null : new Status(at.state(), at.isReady(), at.load(), at.memoryKind());
  }

  /** Whether this server also routes. */
  public boolean isBesideRouter() {
    if (lifecycle == null) {
      return false;
    }
    var roles = lifecycle.runtime().settings().server().roles();
    return roles.contains(Role.ROUTER) || roles.contains(Role.FRONTEND);
  }

  /** Begins to drain and returns; whether there is a worker to drain. */
  boolean beginDrain() {
    var at = role;
    if (at == null || lifecycle == null) {
      return false;
    }
    var runtime = lifecycle.runtime();
    var deadline = Deadline.after(runtime.settings().server().drainTimeout());
    runtime.blocking().execute(() -> drain(at, deadline));
    return true;
  }

  private static void drain(WorkerRole role, Deadline deadline) {
    try {
      role.stop(deadline);
      LOG.log(Level.INFO, "worker drained");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
