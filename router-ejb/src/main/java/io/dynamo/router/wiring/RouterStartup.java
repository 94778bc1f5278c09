package io.dynamo.router.wiring;

import io.dynamo.config.Role;
import io.dynamo.runtime.RouterStatus;
import io.dynamo.runtime.wiring.RuntimeLifecycle;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;

/**
 * Starts the runtime and the router before any WAR of the application starts its role, and stops
 * them after the last one has gone.
 */
@Singleton
@Startup
public class RouterStartup {
  private static final System.Logger LOG = System.getLogger(RouterStartup.class.getName());

  @Inject private RuntimeLifecycle runtime;
  @Inject private Instance<RouterStatus> router; // can be made only once the runtime runs

  @PostConstruct
  void start() {
    runtime.start();
    runtime.during(this::startRouter);
  }

  private void startRouter() {
    var roles = runtime.runtime().settings().server().roles();
    if (roles.contains(Role.ROUTER) || roles.contains(Role.FRONTEND)) {
      LOG.log(System.Logger.Level.INFO, "router {0} started", router.get().id());
    }
  }

  @PreDestroy
  void stop() {
    runtime.stop();
  }
}
