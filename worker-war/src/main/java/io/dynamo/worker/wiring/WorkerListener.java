package io.dynamo.worker.wiring;

import jakarta.inject.Inject;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;

/** Starts the worker with its web module and stops it with it. */
@WebListener
public class WorkerListener implements ServletContextListener {
  private final WorkerHolder worker;

  @Inject
  public WorkerListener(WorkerHolder worker) {
    this.worker = worker;
  }

  @Override
  public void contextInitialized(ServletContextEvent event) {
    worker.start();
  }

  @Override
  public void contextDestroyed(ServletContextEvent event) {
    worker.stop();
  }
}
