package io.dynamo.frontend.wiring;

import io.dynamo.config.SettingsListing;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.console.ConsoleFeed;
import io.dynamo.frontend.console.ConsoleParts;
import io.dynamo.frontend.console.WorkerRoster;
import io.dynamo.frontend.watch.RecentFailures;
import io.dynamo.router.QueueDepths;
import io.dynamo.router.RankReports;
import io.dynamo.router.RouteExplanations;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import org.eclipse.microprofile.config.ConfigProvider;

/** Produces the parts of the console. */
@ApplicationScoped
public class ConsoleProducer {
  @Produces
  @Singleton
  public RecentFailures failures() {
    return new RecentFailures();
  }

  @Produces
  @Singleton
  public WorkerRoster roster(DynamoRuntime runtime) {
    var settings = runtime.settings().api();
    var roster =
        new WorkerRoster(endpoint -> settings.serves(endpoint.namespace()), InstantSource.system());
    roster.follow(runtime.discovery());
    return roster;
  }

  void close(@Disposes WorkerRoster roster) {
    roster.close();
  }

  @Produces
  @Singleton
  public ConsoleFeed feed(
      DynamoRuntime runtime,
      WorkerRoster roster,
      ModelCatalog catalog,
      QueueDepths queues,
      RankReports reports,
      RouteExplanations decisions,
      RecentFailures failures) {
    return ConsoleParts.feed(
        runtime, roster, catalog, queues, reports, decisions, failures, InstantSource.system());
  }

  void close(@Disposes ConsoleFeed feed) {
    feed.close();
  }

  /** Produces the settings with their values; those that may hold credentials are not shown. */
  @Produces
  @Singleton
  public SettingsListing settings() {
    return SettingsListing.of(ConfigProvider.getConfig());
  }
}
