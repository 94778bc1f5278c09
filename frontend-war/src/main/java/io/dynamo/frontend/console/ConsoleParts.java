package io.dynamo.frontend.console;

import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.watch.RecentFailures;
import io.dynamo.metrics.MetricNaming;
import io.dynamo.router.QueueDepths;
import io.dynamo.router.RankReports;
import io.dynamo.router.RouteExplanations;
import io.dynamo.runtime.DynamoRuntime;
import java.time.InstantSource;
import java.util.Map;

/** Puts the console's parts together. */
public final class ConsoleParts {
  private ConsoleParts() {}

  /** Returns the feed of a server; it samples nothing until a page is open. */
  public static ConsoleFeed feed(
      DynamoRuntime runtime,
      WorkerRoster roster,
      ModelCatalog catalog,
      QueueDepths queues,
      RankReports reports,
      RouteExplanations decisions,
      RecentFailures failures,
      InstantSource clock) {
    var sources =
        new ServerSampler.Sources(
            runtime.metrics(),
            new MetricNaming(runtime.settings().watch().metrics().prefix(), Map.of()),
            roster,
            new ModelFigures(catalog, queues),
            new WorkerFigures(runtime::instances, reports, runtime.discovery().instanceId()),
            decisions,
            failures,
            clock,
            System::nanoTime);
    return new ConsoleFeed(runtime.blocking(), () -> new ServerSampler(sources));
  }
}
