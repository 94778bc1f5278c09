package io.dynamo.worker.wiring;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.Settings;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.RoleLifecycle;
import io.dynamo.wire.MessageCodec;
import io.dynamo.worker.control.EngineCommands;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The worker role of a server: one model, or several with a worker each. Safe for concurrent use.
 */
final class Workers implements RoleLifecycle {
  private static final System.Logger LOG = System.getLogger(Workers.class.getName());
  private static final Duration LAST_WORDS = Duration.ofSeconds(10); // after the deadline

  private final List<WorkerRole> models;
  private final EngineCommands commands;
  private final String memoryKind;

  private Workers(List<WorkerRole> models, EngineCommands commands, String memoryKind) {
    this.models = models;
    this.commands = commands;
    this.memoryKind = memoryKind;
  }

  /** Starts a worker for each model, one after the other; a failure stops those already started. */
  static Workers start(DynamoRuntime runtime, MessageCodec<GenerateRequest, EngineOutput> codec) {
    var started = new ArrayList<WorkerRole>();
    try {
      for (var settings : runtime.settings().workers()) {
        var role = new WorkerAssembly(runtime, settings, codec).assemble();
        started.add(role);
        role.start();
      }
      var commands =
          new EngineCommands(
              runtime.status().engine(),
              started.stream().map(WorkerRole::controls).filter(Objects::nonNull).toList());
      return new Workers(List.copyOf(started), commands, runtime.memory().kind());
    } catch (RuntimeException | Error failure) {
      started.reversed().forEach(WorkerRole::close);
      throw failure;
    }
  }

  /** Returns one worker per model, in the order of the settings. */
  List<WorkerRole> models() {
    return models;
  }

  /** Returns the workers' lines of the console's banner; null until all of them are ready. */
  @Nullable String banner(Settings settings, @Nullable InetSocketAddress status) {
    var served = new ArrayList<WorkerBanner.ServedModel>();
    for (int i = 0; i < models.size(); i++) {
      var model = models.get(i);
      var address = model.isReady() ? model.address() : null;
      if (address == null) {
        return null;
      }
      var worker = settings.workers().get(i);
      served.add(
          new WorkerBanner.ServedModel(
              model.model(),
              worker.engine().name().toLowerCase(Locale.ROOT),
              worker.ranks(),
              address));
    }
    return WorkerBanner.text(settings, served, status);
  }

  String memoryKind() {
    return memoryKind;
  }

  @Override
  public String name() {
    return "worker";
  }

  /** {@inheritDoc} Stops all workers at once, since they share the deadline. */
  @Override
  public void stop(Deadline deadline) throws InterruptedException {
    commands.close();
    var interrupted = new AtomicReference<@Nullable InterruptedException>();
    var threads = new ArrayList<Thread>();
    for (var model : models.subList(1, models.size())) {
      threads.add(
          Thread.ofVirtual()
              .name("worker-stop-" + model.model())
              .start(() -> stop(model, deadline, interrupted)));
    }
    try {
      models.getFirst().stop(deadline);
    } finally {
      for (var thread : threads) {
        if (!thread.join(
            Duration.ofNanos(Math.max(0, deadline.remainingNanos())).plus(LAST_WORDS))) {
          LOG.log(Level.WARNING, "{0} has not ended in time", thread.getName());
        }
      }
    }
    var cut = interrupted.get();
    if (cut != null) {
      throw cut;
    }
  }

  private static void stop(
      WorkerRole model,
      Deadline deadline,
      AtomicReference<@Nullable InterruptedException> interrupted) {
    try {
      model.stop(deadline);
    } catch (InterruptedException e) {
      interrupted.set(e);
    }
  }
}
