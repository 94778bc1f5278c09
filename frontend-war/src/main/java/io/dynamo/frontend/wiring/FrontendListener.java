package io.dynamo.frontend.wiring;

import io.dynamo.config.Role;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.wiring.RuntimeLifecycle;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;
import org.jspecify.annotations.Nullable;

/** Starts the frontend's role with its web module, and drains it when the module goes. */
@WebListener
public class FrontendListener implements ServletContextListener {
  @Inject private RuntimeLifecycle lifecycle;
  @Inject private Instance<DynamoRuntime> runtime; // exists only once it is started
  @Inject private Instance<FrontendRole> role;
  private @Nullable FrontendRole started;

  @Override
  public void contextInitialized(ServletContextEvent event) {
    lifecycle.start();
    lifecycle.during(this::start);
  }

  private void start() {
    if (runtime.get().settings().server().roles().contains(Role.FRONTEND)) {
      var frontend = role.get();
      started = frontend;
      lifecycle.attach(frontend);
      frontend.start();
    }
  }

  @Override
  public void contextDestroyed(ServletContextEvent event) {
    var frontend = started;
    if (frontend != null) {
      started = null;
      lifecycle.detach(frontend);
    }
  }
}
