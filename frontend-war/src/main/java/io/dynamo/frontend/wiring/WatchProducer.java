package io.dynamo.frontend.wiring;

import io.dynamo.discovery.EndpointId;
import io.dynamo.frontend.FailureMeters;
import io.dynamo.frontend.catalog.AdapterGauges;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ModelGauges;
import io.dynamo.frontend.catalog.WorkerGauges;
import io.dynamo.frontend.record.RequestRecords;
import io.dynamo.frontend.watch.RequestConsole;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.router.BookedLoads;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.trace.Tracing;
import io.dynamo.trace.otlp.OtlpTracing;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.function.Predicate;

/** Produces the parts that observe requests and models. */
@ApplicationScoped
public class WatchProducer {
  /** Off unless settings ask for it: the exporter's classes are not even loaded. */
  @Produces
  @Singleton
  public Tracing tracing(DynamoRuntime runtime) {
    var settings = runtime.settings().watch().trace();
    return settings.export() ? new OtlpTracing(settings) : Tracing.OFF;
  }

  void close(@Disposes Tracing tracing) {
    tracing.close();
  }

  @Produces
  @Singleton
  public Stages stages(DynamoRuntime runtime, Tracing tracing) {
    return new Stages(runtime.metrics(), tracing);
  }

  @Produces
  @Singleton
  public RequestConsole console(DynamoRuntime runtime) {
    return RequestConsole.open(runtime.settings().watch().console());
  }

  void close(@Disposes RequestConsole console) {
    console.close();
  }

  @Produces
  @Singleton
  public RequestRecords records(DynamoRuntime runtime) {
    var settings = runtime.settings();
    var trace = settings.watch().requestTrace();
    var records =
        RequestRecords.open(
            trace,
            new RequestRecords.Servers(settings.nats(), settings.watch().trace()),
            runtime.metrics());
    var tools = trace.tools();
    if (tools != null) {
      records.takeReports(tools, runtime.streams(), runtime.metrics());
    }
    return records;
  }

  void close(@Disposes RequestRecords records) {
    records.close();
  }

  @Produces
  @Singleton
  public FailureMeters failureMeters(DynamoRuntime runtime) {
    return new FailureMeters(runtime.metrics());
  }

  @Produces
  @Singleton
  public ModelGauges modelGauges(DynamoRuntime runtime, ModelCatalog catalog) {
    return new ModelGauges(runtime.discovery(), catalog, serves(runtime), runtime.metrics());
  }

  @Produces
  @Singleton
  public AdapterGauges adapterGauges(DynamoRuntime runtime) {
    return new AdapterGauges(runtime.discovery(), serves(runtime), runtime.metrics());
  }

  @Produces
  @Singleton
  public WorkerGauges workerGauges(DynamoRuntime runtime, BookedLoads loads) {
    var gauges = new WorkerGauges(loads, serves(runtime), runtime.metrics());
    gauges.follow(runtime.discovery());
    return gauges;
  }

  private static Predicate<EndpointId> serves(DynamoRuntime runtime) {
    var settings = runtime.settings().api();
    return endpoint -> settings.serves(endpoint.namespace());
  }

  void close(@Disposes WorkerGauges gauges) {
    gauges.close();
  }

  void close(@Disposes AdapterGauges gauges) {
    gauges.close();
  }

  void close(@Disposes ModelGauges gauges) {
    gauges.close();
  }
}
