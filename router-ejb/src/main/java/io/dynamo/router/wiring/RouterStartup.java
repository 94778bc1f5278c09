package io.dynamo.router.wiring;

import io.dynamo.runtime.wiring.RuntimeLifecycle;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.inject.Inject;

/**
 * Starts the runtime before any WAR of the application starts its role, and stops it after the last
 * one has gone.
 */
@Singleton
@Startup
public class RouterStartup {
  @Inject private RuntimeLifecycle runtime;

  @PostConstruct
  void start() {
    runtime.start();
  }

  @PreDestroy
  void stop() {
    runtime.stop();
  }
}
