package io.dynamo.worker;

import io.dynamo.runtime.InstanceRegistration;
import io.dynamo.runtime.health.Canary;
import io.dynamo.worker.engine.SleepableEngine;
import io.dynamo.worker.serve.EngineGuard;
import io.dynamo.worker.serve.RequestGate;
import java.lang.System.Logger.Level;

/**
 * Puts one worker to sleep and wakes it. The worker leaves discovery before its engine stops, and
 * returns once the engine works; requests that arrive in between are refused, so that their senders
 * try another worker. Safe for concurrent use; calls block on the engine.
 */
final class SleepSwitch {
  private static final System.Logger LOG = System.getLogger(SleepSwitch.class.getName());

  /** The lowest sleep level that also releases the weights. */
  private static final int DROPS_WEIGHTS = 2;

  private final SleepableEngine engine;
  private final InstanceRegistration registration;
  private final RequestGate door;
  private final EngineGuard guard;
  private final EngineGuard.Listener onTrouble;
  private final Canary<?, ?> canary;
  private final int ranks;

  SleepSwitch(
      SleepableEngine engine,
      InstanceRegistration registration,
      RequestGate door,
      EngineGuard guard,
      EngineGuard.Listener onTrouble,
      Canary<?, ?> canary,
      int ranks) {
    this.engine = engine;
    this.registration = registration;
    this.door = door;
    this.guard = guard;
    this.onTrouble = onTrouble;
    this.canary = canary;
    this.ranks = ranks;
  }

  /**
   * Takes the worker out of service and frees the memory that {@code level} names.
   *
   * @return false when it already slept
   */
  synchronized boolean sleep(int level) {
    if (engine.isAsleep()) {
      return false;
    }
    registration.unregister();
    door.shut("the engine sleeps; it is woken by control/wake_up");
    canary.rest();
    guard.pause();
    try {
      engine.sleep(level >= DROPS_WEIGHTS);
    } catch (RuntimeException | Error failure) {
      if (!engine.isAsleep()) {
        serve();
      }
      throw failure;
    }
    LOG.log(Level.INFO, "{0} sleeps at level {1}", registration.instance().endpoint(), level);
    return true;
  }

  /**
   * Puts the worker back into service.
   *
   * @return false when it was already awake
   */
  synchronized boolean wake() {
    boolean woke = engine.wake();
    if (woke) {
      serve();
      LOG.log(Level.INFO, "{0} is awake", registration.instance().endpoint());
    }
    return woke;
  }

  private void serve() {
    guard.start(ranks, onTrouble);
    canary.start();
    canary.suspect("it has just woken");
    door.open();
    registration.register();
  }

  boolean isAsleep() {
    return engine.isAsleep();
  }
}
