package io.dynamo.frontend.grpc;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.runtime.DynamoRuntime;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gRPC port of the frontend, with the host, the TLS and the bounds of its HTTP port. Closed
 * until it is started. For one thread at a time.
 */
public final class GrpcPort {
  private static final System.Logger LOG = System.getLogger(GrpcPort.class.getName());

  private final DynamoRuntime runtime;
  private final RequestAdmission admission;
  private final ModelDirectory models;
  private final InferCalls calls;
  private @Nullable GrpcListener listener;

  public GrpcPort(
      DynamoRuntime runtime, RequestAdmission admission, ModelDirectory models, InferCalls calls) {
    this.runtime = runtime;
    this.admission = admission;
    this.models = models;
    this.calls = calls;
  }

  /**
   * Opens the port, where it is switched on.
   *
   * @throws IllegalStateException when it cannot be bound
   * @throws io.dynamo.config.key.InvalidSettingsException when a TLS file is of no use
   */
  public void start() {
    var settings = runtime.settings();
    var grpc = settings.grpc();
    if (!grpc.enabled()) {
      return;
    }
    var frontend = settings.frontend();
    var tls = settings.server().httpTls();
    var patience =
        new InferHandler.Patience(frontend.uploadTimeout(), grpc.idle(), frontend.writeStall());
    var means = new LookupHandler.Means(patience, runtime.timer(), runtime.blocking());
    var services =
        List.of(
            InferenceService.of(calls, models, admission::isOpen, means),
            HealthService.of(() -> admission.isOpen() && models.isServerReady(), means));
    var open =
        GrpcListener.open(
            new InetSocketAddress(settings.server().httpHost(), grpc.port()),
            new GrpcListener.Bounds(grpc, frontend.bodyLimitBytes(), admission.bodies()::open),
            tls.isOn() ? new PortTls(tls, runtime.timer()) : null,
            services,
            runtime.blocking());
    listener = open;
    LOG.log(
        Level.INFO,
        "KServe''s gRPC service listens on {0}, port {1}, {2} TLS",
        settings.server().httpHost(),
        Integer.toString(open.port()),
        tls.isOn() ? "with" : "without");
  }

  /** Lets no further call in; those under way go on. */
  public void drain() {
    if (listener != null) {
      listener.drain();
    }
  }

  /** Ends all calls and closes the port. */
  public void stop(Deadline deadline) throws InterruptedException {
    if (listener != null) {
      listener.stop(deadline);
      listener = null;
    }
  }
}
