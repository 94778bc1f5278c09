package io.dynamo.frontend.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.Usage;
import io.dynamo.metrics.Metrics;
import io.dynamo.request.RequestContext;
import io.dynamo.router.RouteRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WarmUpWorkerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final WorkerSet WORKERS =
      new WorkerSet(WarmUpModel.ENDPOINT, WarmUpModel.NAME, null, null, 16);

  private static final class Gathering implements Flow.Subscriber<EngineOutput> {
    final List<EngineOutput> items = new ArrayList<>();
    final CompletableFuture<List<EngineOutput>> all = new CompletableFuture<>();

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(EngineOutput item) {
      items.add(item);
    }

    @Override
    public void onError(Throwable cause) {
      all.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
      all.complete(List.copyOf(items));
    }
  }

  @Test
  void answersOverItsSocketTokenByTokenAndFinishes() throws Exception {
    var request =
        new GenerateRequest(
            WarmUpModel.NAME,
            new int[] {65, 66, 67},
            new StopConditions(5, List.of(), List.of(), null, false),
            SamplingOptions.DEFAULTS,
            OutputOptions.DEFAULTS,
            new int[] {256},
            null,
            List.of(),
            RoutingHints.NONE,
            Map.of());
    var context =
        new RequestContext("one", Map.of(), Map.of(), Deadline.after(PATIENCE), new Cancellation());
    try (var worker = new WarmUpWorker(new InstanceId(7), new Metrics());
        var decision =
            worker.route(new RouteRequest("one", WORKERS, request.tokenIds(), 16, Set.of()))) {
      var answer = new Gathering();
      worker.call(decision.instance(), request, context).subscribe(answer);

      var items = answer.all.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(items).hasSize(5);
      assertThat(items).allSatisfy(item -> assertThat(item.tokenIds()).hasSize(1));
      assertThat(items.getLast().finishReason()).isEqualTo(FinishReason.LENGTH);
      assertThat(items.getLast().usage()).isEqualTo(new Usage(3, 5, null));
    }
  }
}
