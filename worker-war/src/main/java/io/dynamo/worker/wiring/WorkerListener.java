package io.dynamo.worker.wiring;

import io.dynamo.runtime.wiring.InnerHost;
import jakarta.inject.Inject;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;

/**
 * Starts the worker with its web module and stops it with it. The module is in the {@linkplain
 * InnerHost virtual host that no port serves}, and opens the way to that host.
 */
@WebListener
public class WorkerListener implements ServletContextListener {
  private final WorkerHolder worker;
  private final InnerHost host;

  @Inject
  public WorkerListener(WorkerHolder worker, InnerHost host) {
    this.worker = worker;
    this.host = host;
  }

  @Override
  public void contextInitialized(ServletContextEvent event) {
    host.enter(event.getServletContext()); // probes are answered while the worker starts
    worker.start();
  }

  @Override
  public void contextDestroyed(ServletContextEvent event) {
    worker.stop();
    host.leave();
  }
}
