package io.dynamo.worker;

import io.dynamo.runtime.InstanceRegistration;
import io.dynamo.runtime.health.Canary;
import java.lang.System.Logger.Level;

/**
 * Takes a worker's instance out of discovery while its canary finds it unfit, and puts it back
 * after; its card stays. Safe for concurrent use; calls wait for discovery.
 */
final class Presence {
  private static final System.Logger LOG = System.getLogger(Presence.class.getName());

  private final InstanceRegistration registration;
  private final Canary<?, ?> canary;

  Presence(InstanceRegistration registration, Canary<?, ?> canary) {
    this.registration = registration;
    this.canary = canary;
  }

  /** Does what the canary's latest verdict asks; to be called after each. */
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
