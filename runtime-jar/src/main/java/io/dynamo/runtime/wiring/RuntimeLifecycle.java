package io.dynamo.runtime.wiring;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.CarrierWatch;
import io.dynamo.concurrent.OwnThread;
import io.dynamo.config.Settings;
import io.dynamo.config.SettingsListing;
import io.dynamo.config.SettingsReader;
import io.dynamo.config.UnsupportedVariables;
import io.dynamo.runtime.ClosingStack;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.RoleLifecycle;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.ConfigProvider;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Starts and stops the runtime of a server: one per application, started before the first role and
 * stopped after the last. Safe for concurrent use: a start or stop waits for the previous one, and
 * nothing else waits for either.
 *
 * <p>All roles stop within one drain timeout, counted from the first that is detached, from the
 * stop, or from the signal that ends the process, whichever comes first: the server gives the whole
 * application only that long.
 */
@ApplicationScoped
public class RuntimeLifecycle {
  private static final System.Logger LOG = System.getLogger(RuntimeLifecycle.class.getName());
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(2); // per part
  private static final Duration LAST_WORDS = Duration.ofSeconds(3); // of a role at its deadline

  /** The parts that exist between a start and a stop. */
  private record Running(
      DynamoRuntime runtime,
      ClosingStack opened,
      AttachedRoles roles,
      Cancellation.Registration atShutdown) {}

  private final @Nullable Supplier<Settings> settings; // null in the client proxy only
  private final @Nullable RuntimeOpener opener;
  private final Duration lastWords;
  private final ShutdownSignal shutdown;
  private final FailedStart failedStart;
  private final AtomicBoolean failing = new AtomicBoolean(); // a failure is being reported
  private final Object changing = new Object(); // held by a start or a stop, taken before this
  private @Nullable Running running; // guarded by this

  /** For the container's client proxy. */
  protected RuntimeLifecycle() {
    this.settings = null;
    this.opener = null;
    this.lastWords = LAST_WORDS;
    this.shutdown = ShutdownSignal.ofJvm();
    this.failedStart = FailedStart.ofServer();
  }

  /** Creates a lifecycle that reads the settings from MicroProfile Config when it starts. */
  @Inject
  RuntimeLifecycle(MetricRegistry registry, PlaneFactory planes, EtcdCalls etcd) {
    this(
        () -> SettingsReader.read(ConfigProvider.getConfig()),
        new PlaneOpener(registry, planes, new EtcdBreaker(etcd::run), FailedStart.ofServer()::end),
        LAST_WORDS,
        ShutdownSignal.ofJvm(),
        FailedStart.ofServer());
  }

  /**
   * @param lastWords how long after its deadline a role is waited for
   * @param failedStart ends the process when a step of the start fails
   */
  RuntimeLifecycle(
      Supplier<Settings> settings,
      RuntimeOpener opener,
      Duration lastWords,
      ShutdownSignal shutdown,
      FailedStart failedStart) {
    this.settings = settings;
    this.opener = opener;
    this.lastWords = lastWords;
    this.shutdown = shutdown;
    this.failedStart = failedStart;
  }

  /**
   * Reads the settings and opens every part; a failure ends the process, with nothing open. Does
   * nothing when the runtime is running.
   */
  public void start() {
    during(this::open);
  }

  /**
   * Runs a step of the server's start, on this thread. When it fails, closes open parts, reports
   * why and ends the process. Steps run concurrently: only the first failure is reported, since
   * closing open parts makes the others fail too.
   */
  public void during(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error failure) {
      if (!failing.compareAndSet(false, true)) {
        throw failure; // a consequence of the failure that another thread is reporting
      }
      try {
        end(failure);
      } finally {
        failing.set(false); // the process goes on only in tests
      }
      throw failure;
    }
  }

  private void end(Throwable failure) {
    try {
      stop();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.WARNING, "the runtime of a failed start did not close", e);
    }
    failedStart.end(failure);
  }

  private void open() {
    synchronized (changing) {
      if (isRunning() || settings == null || opener == null) {
        return;
      }
      var read = settings.get();
      var dump = read.server().dumpTo();
      if (dump != null) {
        SettingsListing.of(ConfigProvider.getConfig()).writeJson(dump);
      }
      var opened = new ClosingStack(CLOSE_PATIENCE);
      opened.push("carrier-watch", CarrierWatch.start()); // before the first virtual thread
      var open = opener;
      DynamoRuntime runtime;
      try {
        runtime = OwnThread.call("runtime-start", () -> open.open(read, opened));
      } catch (RuntimeException | Error e) {
        opened.close();
        throw e;
      }
      var unsupported = UnsupportedVariables.report(System.getenv());
      if (unsupported != null) {
        LOG.log(
            Level.WARNING,
            "these variables of the environment have no effect here: {0}; docs/configuration.md has"
                + " those that do",
            unsupported);
      }
      var roles = new AttachedRoles(read.server().drainTimeout(), lastWords);
      change(new Running(runtime, opened, roles, shutdown.onSignal(() -> drain(roles))));
      LOG.log(
          Level.INFO,
          "runtime {0} started: roles {1}, discovery {2}",
          runtime.discovery().instanceId(),
          read.server().roles(),
          read.discovery().backend());
    }
  }

  private synchronized boolean isRunning() {
    return running != null;
  }

  private synchronized void change(@Nullable Running to) {
    running = to;
  }

  /** Adds a role; roles stop in reverse order, before the planes close. */
  public synchronized void attach(RoleLifecycle role) {
    running().roles.attach(role);
  }

  /**
   * Stops one attached role when its own module is stopped, and returns once it has stopped or is
   * past its deadline. Does nothing for others.
   */
  public void detach(RoleLifecycle role) {
    Running current;
    synchronized (this) {
      current = running;
    }
    if (current != null) {
      current.roles.stop(role);
    }
  }

  /** Returns the runtime, for as long as it runs, including while roles stop: its only producer. */
  @Produces
  @Singleton
  public synchronized DynamoRuntime runtime() {
    return running().runtime;
  }

  private synchronized Running running() {
    if (running == null) {
      throw new IllegalStateException(
          "the runtime is not running; the application's start-up bean starts it");
    }
    return running;
  }

  /**
   * Stops the roles, including those being detached, then closes the planes. A role that ignores
   * its deadline is left behind. Does nothing when the runtime is not running.
   */
  public void stop() {
    synchronized (changing) {
      Running ending;
      synchronized (this) {
        ending = running;
      }
      if (ending == null) {
        return;
      }
      OwnThread.run("runtime-stop", () -> end(ending));
      LOG.log(Level.INFO, "runtime stopped");
    }
  }

  /** Stops the roles only; the planes close with the application, which may still need them. */
  private static void drain(AttachedRoles roles) {
    LOG.log(Level.INFO, "the process is asked to end; draining");
    roles.stopAll();
  }

  private void end(Running ending) {
    ending.atShutdown.close();
    ending.roles.stopAll();
    change(null);
    ending.roles.stopAll(); // roles attached meanwhile; from here on none can be
    ending.opened.close();
  }
}
