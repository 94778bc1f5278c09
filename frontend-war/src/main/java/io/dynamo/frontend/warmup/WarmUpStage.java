package io.dynamo.frontend.warmup;

import io.dynamo.concurrent.Execution;
import io.dynamo.config.frontend.FrontendAdmission;
import io.dynamo.config.frontend.FrontendSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.catalog.WorkerGauges;
import io.dynamo.frontend.dispatch.LegDispatcher;
import io.dynamo.frontend.dispatch.Legs;
import io.dynamo.frontend.dispatch.MigrationRules;
import io.dynamo.frontend.dispatch.WholeAnswers;
import io.dynamo.frontend.openai.EdgeRules;
import io.dynamo.frontend.openai.TextService;
import io.dynamo.frontend.preprocess.HuggingFaceText;
import io.dynamo.frontend.responses.ResponseStore;
import io.dynamo.frontend.sse.DisconnectWatcher;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.router.BookedLoads;
import io.dynamo.trace.Tracing;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * A text service of the classes that serve clients, but with a model, a worker, an admission and
 * meters of its own: what it serves is seen by nobody. Requests reach it through the real service,
 * which knows them by a secret header.
 */
public final class WarmUpStage implements WarmUp.Stage {
  private static final String HEADER = "x-dynamo-warm-up";
  private static final int SECRET_BYTES = 16;
  private static final int MOST_REQUESTS = 64;

  private static final BookedLoads NO_LOADS =
      new BookedLoads() {
        @Override
        public int blocks(EndpointId endpoint, WorkerRank rank) {
          return 0;
        }

        @Override
        public long prefillTokens(EndpointId endpoint, WorkerRank rank) {
          return 0;
        }
      };

  /**
   * Parts of the server that keep nothing of a request.
   *
   * @param service the service that gets the requests first
   */
  public record Parts(
      FrontendSettings settings,
      EdgeRules rules,
      WholeAnswers whole,
      TextService.TextParts text,
      DisconnectWatcher watcher,
      Execution execution,
      ResponseStore responses,
      TextService service) {}

  private final Parts parts;
  private final String secret;
  private final WarmUpWorker worker;
  private final HuggingFaceText text;

  /**
   * Starts the worker, and has the real service pass on what names the secret.
   *
   * @throws RuntimeException when no port is free or the tokenizer's library does not load
   */
  public WarmUpStage(Parts parts) {
    this.parts = parts;
    var random = new SecureRandom();
    var bytes = new byte[SECRET_BYTES];
    random.nextBytes(bytes);
    secret = HexFormat.of().formatHex(bytes);
    var metrics = new Metrics();
    text = WarmUpText.open();
    try {
      worker = new WarmUpWorker(new InstanceId(random.nextLong()), metrics);
    } catch (RuntimeException e) {
      text.close();
      throw e;
    }
    parts.service.passOn(new TextService.Passage(HEADER, secret, service(metrics)));
  }

  private TextService service(Metrics metrics) {
    var stages = new Stages(metrics, Tracing.OFF);
    var model = new WarmUpModel(text, parts.execution.clock().millis() / 1000);
    var admission =
        new RequestAdmission(MOST_REQUESTS, FrontendAdmission.STANDARD, _ -> false, metrics);
    admission.open();
    var dispatcher =
        new LegDispatcher(
            worker,
            worker,
            model,
            Legs.single(),
            new MigrationRules(0),
            metrics,
            stages,
            parts.execution.blocking(),
            parts.execution.timer());
    return new TextService(
        parts.settings,
        parts.rules,
        new TextService.Gate(
            admission, parts.watcher, new RequestWatch.WatchFactory(stages, false)),
        new TextService.Models(
            model, dispatcher, parts.whole, new WorkerGauges(NO_LOADS, _ -> false, metrics)),
        parts.text,
        parts.responses,
        parts.execution);
  }

  @Override
  public String header() {
    return HEADER + ": " + secret;
  }

  @Override
  public void close() {
    // a request may still be on its way from a client whose time was over
    parts.service.passOn(new TextService.Passage(HEADER, secret, null));
    worker.close();
    text.close();
  }
}
