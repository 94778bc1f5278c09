package io.dynamo.worker.wiring;

import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.OwnThread;
import io.dynamo.config.Role;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.runtime.StartBanner;
import io.dynamo.runtime.wiring.RuntimeLifecycle;
import io.dynamo.wire.MessageCodec;
import io.dynamo.worker.WorkerService;
import io.dynamo.worker.engine.LoadReport;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.lang.System.Logger.Level;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Holds the worker of this server, if the server has that role. Safe for concurrent use. */
@ApplicationScoped
public class WorkerHolder {
  private static final System.Logger LOG = System.getLogger(WorkerHolder.class.getName());

  /**
   * The states of all workers at one moment.
   *
   * @param models one entry per model, in the order of the settings
   * @param memoryKind {@code native} or {@code java}
   */
  public record Status(List<ModelStatus> models, String memoryKind) {
    public Status {
      models = List.copyOf(models);
    }

    /**
     * Whether at least one model is served, and every model that is awake is served by a healthy
     * endpoint.
     */
    public boolean ready() {
      return models.stream().anyMatch(ModelStatus::ready)
          && models.stream().allMatch(model -> model.ready() || model.asleep());
    }

    /** Returns the state of the first model that is not served, else {@code SERVING}. */
    public WorkerService.State state() {
      for (var model : models) {
        if (model.state() != WorkerService.State.SERVING) {
          return model.state();
        }
      }
      return WorkerService.State.SERVING;
    }
  }

  /**
   * The state of one model's worker.
   *
   * @param model the model name that clients use
   * @param ready whether it serves and its endpoint is healthy
   */
  public record ModelStatus(
      String model, WorkerService.State state, boolean ready, boolean asleep, LoadReport load) {}

  private final @Nullable RuntimeLifecycle lifecycle; // null in the client proxy only
  private final @Nullable MessageCodec<GenerateRequest, EngineOutput> codec;
  private volatile @Nullable Workers role;
  private volatile @Nullable StartBanner banner; // where no frontend prints one

  /** Creates the container's client proxy. */
  protected WorkerHolder() {
    this.lifecycle = null;
    this.codec = null;
  }

  @Inject
  WorkerHolder(RuntimeLifecycle lifecycle, MessageCodec<GenerateRequest, EngineOutput> codec) {
    this.lifecycle = lifecycle;
    this.codec = codec;
  }

  /** Starts the worker when {@code dynamo.roles} includes it; a failure ends the process. */
  synchronized void start() {
    if (lifecycle == null || codec == null || role != null) {
      return;
    }
    var runtime = lifecycle.runtime();
    if (!runtime.settings().server().roles().contains(Role.WORKER)) {
      return;
    }
    var generate = codec;
    var roles = lifecycle;
    roles.during(
        () -> {
          var started = OwnThread.call("worker-start", () -> Workers.start(runtime, generate));
          role = started;
          roles.attach(started);
          if (!runtime.settings().server().roles().contains(Role.FRONTEND)) {
            banner =
                new StartBanner(
                    () -> started.banner(runtime.settings(), runtime.status().address()),
                    runtime.timer(),
                    System.out);
          }
        });
  }

  /** Stops the worker with its web module. */
  synchronized void stop() {
    if (banner != null) {
      banner.cancel();
    }
    var stopping = role;
    if (stopping != null && lifecycle != null) {
      role = null;
      lifecycle.detach(stopping);
    }
  }

  /** Returns the status; null when this server has no worker role. */
  public @Nullable Status status() {
    var at = role;
    return at == null
        ? null
        : new Status(at.models().stream().map(WorkerHolder::status).toList(), at.memoryKind());
  }

  private static ModelStatus status(WorkerRole of) {
    return new ModelStatus(of.model(), of.state(), of.isReady(), of.isAsleep(), of.load());
  }

  /** Whether this server also routes. */
  public boolean isBesideRouter() {
    if (lifecycle == null) {
      return false;
    }
    var roles = lifecycle.runtime().settings().server().roles();
    return roles.contains(Role.ROUTER) || roles.contains(Role.FRONTEND);
  }

  /**
   * Starts a drain in the background.
   *
   * @return whether there is a worker to drain
   */
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

  private static void drain(Workers role, Deadline deadline) {
    try {
      role.stop(deadline);
      LOG.log(Level.INFO, "worker drained");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
