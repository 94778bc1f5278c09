package io.dynamo.frontend.wiring;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.batches.BatchRunner;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.console.ConsoleFeed;
import io.dynamo.frontend.grpc.GrpcPort;
import io.dynamo.frontend.openai.RealtimeService;
import io.dynamo.frontend.openai.TextService;
import io.dynamo.frontend.warmup.WarmUp;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.RoleLifecycle;
import io.dynamo.runtime.StartBanner;
import java.lang.System.Logger.Level;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The frontend as a role: lets requests in, and drains them before the planes close. */
public final class FrontendRole implements RoleLifecycle {
  private static final System.Logger LOG = System.getLogger(FrontendRole.class.getName());
  private static final Duration LAST_FRAMES = Duration.ofSeconds(2);

  private final DynamoRuntime runtime;
  private final RequestAdmission admission;
  private final TextService completions;
  private final RealtimeService realtime;
  private final ModelCatalog catalog;
  private final ConsoleFeed console;
  private final BatchRunner batches;
  private final GrpcPort grpc;
  private final WarmUp warmUp;
  private @Nullable StartBanner banner; // start and stop come one after the other

  FrontendRole(
      DynamoRuntime runtime,
      RequestAdmission admission,
      TextService completions,
      RealtimeService realtime,
      ModelCatalog catalog,
      ConsoleFeed console,
      BatchRunner batches,
      GrpcPort grpc,
      WarmUp warmUp) {
    this.runtime = runtime;
    this.catalog = catalog;
    this.console = console;
    this.batches = batches;
    this.grpc = grpc;
    this.warmUp = warmUp;
    this.admission = admission;
    this.completions = completions;
    this.realtime = realtime;
  }

  @Override
  public String name() {
    return "frontend";
  }

  /** Starts admitting requests and logs the address. */
  void start() {
    grpc.start();
    admission.open();
    batches.start();
    banner = new StartBanner(this::welcome, runtime.timer(), System.out);
    LOG.log(Level.INFO, "frontend started at {0}", runtime.settings().server().httpUrl());
    warmUp.start(runtime.blocking());
  }

  /** Writes an example of a first request; null as long as no model is served. */
  private @Nullable String welcome() {
    var models = catalog.models();
    var server = runtime.settings().server();
    return models.isEmpty()
        ? null
        : Welcome.text(server.httpUrl(), server.httpTls(), runtime.status().address(), models);
  }

  @Override
  public void stop(Deadline deadline) throws InterruptedException {
    if (banner != null) {
      banner.cancel();
    }
    grpc.drain();
    batches.close(); // they go on at the next start
    warmUp.stop();
    console.close(); // its streams would never end by themselves
    var drain = deadline.within(runtime.settings().api().drainTimeout());
    long patience = Math.max(0, drain.remainingNanos());
    int left = admission.drain(Duration.ofNanos(patience));
    if (left > 0) {
      LOG.log(Level.WARNING, "{0} requests did not end within the drain and are ended", left);
      completions.abortAll(
          new EngineFailedException(
              ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the server is stopping", null));
      realtime.abortAll();
      admission.drain(LAST_FRAMES);
    }
    grpc.stop(deadline);
  }
}
