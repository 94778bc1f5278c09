package io.dynamo.worker;

import io.dynamo.runtime.InstanceRegistration;
import io.dynamo.runtime.health.Canary;
import java.lang.System.Logger.Level;

/**
 * Removes a worker's instance from discovery while its canary finds it unhealthy, and restores it
 * afterwards; the model card stays registered. Safe for concurrent use; calls block on discovery.
 */
final class Presence {
  private static final System.Logger LOG = System.getLogger(Presence.class.getName());

  private final InstanceRegistration registration;
  private final Canary<?, ?> canary;

  Presence(InstanceRegistration registration, Canary<?, ?> canary) {
    this.registration = registration;
    this.canary = canary;
  }

  /**
   * Registers or unregisters the instance according to the canary's latest verdict. The caller runs
   * this after each verdict.
   */
  synchronized void follow() {
    boolean was = registration.isFound();
    boolean is;
    try {
      is = registration.setFit(canary.isFit());
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "discovery refuses a change; the next probe tries again", e);
      return;
    }
    var instance = registration.instance();
    if (is && !was) {
      LOG.log(
          Level.INFO,
          "instance {0} of {1} is in discovery again",
          instance.id(),
          instance.endpoint());
    } else if (was && !is) {
      LOG.log(
          Level.WARNING,
          "instance {0} of {1} has left discovery until a probe succeeds; its card stays",
          instance.id(),
          instance.endpoint());
    }
  }
}
