package io.dynamo.runtime.wiring;

import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.OwnThread;
import io.dynamo.config.Settings;
import io.dynamo.config.SettingsReader;
import io.dynamo.runtime.ClosingStack;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.RoleLifecycle;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.ConfigProvider;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Starts and stops the runtime of a server: one per application, started before the first role and
 * stopped after the last. Safe for concurrent use; a call waits for the one before it.
 */
@ApplicationScoped
public class RuntimeLifecycle {
  private static final System.Logger LOG = System.getLogger(RuntimeLifecycle.class.getName());
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(2); // per part

  /** What exists between a start and a stop. */
  private record Running(DynamoRuntime runtime, ClosingStack opened, Deque<RoleLifecycle> roles) {}

  private final @Nullable Supplier<Settings> settings; // null in the client proxy only
  private final @Nullable RuntimeOpener opener;
  private @Nullable Running running; // guarded by this

  /** For the container's client proxy. */
  protected RuntimeLifecycle() {
    this.settings = null;
    this.opener = null;
  }

  /** Reads the settings from MicroProfile Config when it starts. */
  @Inject
  RuntimeLifecycle(MetricRegistry registry, PlaneFactory planes) {
    this(() -> SettingsReader.read(ConfigProvider.getConfig()), new PlaneOpener(registry, planes));
  }

  RuntimeLifecycle(Supplier<Settings> settings, RuntimeOpener opener) {
    this.settings = settings;
    this.opener = opener;
  }

  /**
   * Reads the settings and opens every part. Does nothing when the runtime is running.
   *
   * @throws io.dynamo.config.InvalidSettingsException when settings are bad; nothing is open then,
   *     nor after any other failure
   */
  public synchronized void start() {
    if (running != null || settings == null || opener == null) {
      return;
    }
    var read = settings.get();
    var opened = new ClosingStack(CLOSE_PATIENCE);
    var open = opener;
    Running started;
    try {
      started =
          OwnThread.call(
              "runtime-start",
              () -> new Running(open.open(read, opened), opened, new ArrayDeque<>()));
    } catch (RuntimeException | Error e) {
      opened.close();
      throw e;
    }
    running = started;
    LOG.log(
        Level.INFO,
        "runtime {0} started: roles {1}, discovery {2}",
        started.runtime.discovery().instanceId(),
        read.server().roles(),
        read.discovery().backend());
  }

  /** Adds a role; roles stop in reverse, before the planes close. */
  public synchronized void attach(RoleLifecycle role) {
    running().roles.push(role);
  }

  /** Stops one role that was attached, when its own module goes. Does nothing for others. */
  public void detach(RoleLifecycle role) {
    Deadline deadline;
    synchronized (this) {
      if (running == null || !running.roles.remove(role)) {
        return;
      }
      deadline = Deadline.after(running.runtime.settings().server().drainTimeout());
    }
    OwnThread.run(role.name() + "-stop", () -> stopOne(role, deadline));
  }

  /** The runtime, for as long as it runs: the one producer of it. */
  @Produces
  @Singleton
  public synchronized DynamoRuntime runtime() {
    return running().runtime;
  }

  private Running running() {
    if (running == null) {
      throw new IllegalStateException(
          "the runtime is not running; the application's start-up bean starts it");
    }
    return running;
  }

  /**
   * Stops the roles, all within the drain timeout, then closes the planes. Does nothing when the
   * runtime is not running.
   */
  public synchronized void stop() {
    if (running == null) {
      return;
    }
    var ending = running;
    running = null;
    var deadline = Deadline.after(ending.runtime.settings().server().drainTimeout());
    OwnThread.run(
        "runtime-stop",
        () -> {
          ending.roles.forEach(role -> stopOne(role, deadline));
          ending.opened.close();
        });
    LOG.log(Level.INFO, "runtime stopped");
  }

  private static void stopOne(RoleLifecycle role, Deadline deadline) {
    try {
      role.stop(deadline);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.log(Level.ERROR, "role " + role.name() + " failed to stop; the others go on", e);
    }
  }
}
