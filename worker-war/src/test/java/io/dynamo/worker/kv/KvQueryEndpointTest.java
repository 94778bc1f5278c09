package io.dynamo.worker.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.WorkerRank;
import io.dynamo.request.RequestContext;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class KvQueryEndpointTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);

  /** Records the signals that it receives. */
  private static final class Asker implements Flow.Subscriber<KvReply> {
    final List<Object> heard = new ArrayList<>();

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(KvReply reply) {
      heard.add(reply);
    }

    @Override
    public void onError(Throwable cause) {
      heard.add(cause.getMessage());
    }

    @Override
    public void onComplete() {
      heard.add("end");
    }
  }

  private final RankLog log = new RankLog(RANK, 5000);
  private final Queue<Runnable> begun = new ArrayDeque<>();
  private final List<Asker> askers = new ArrayList<>();

  private void ask(KvQueryEndpoint endpoint) {
    var asker = new Asker();
    askers.add(asker);
    endpoint
        .handle(
            KvQuery.ofAll(RANK),
            new RequestContext(
                "r", Map.of(), Map.of(), Deadline.after(Duration.ofMinutes(1)), new Cancellation()))
        .subscribe(asker);
  }

  @Test
  void queriesAreAnsweredOnTheExecutor() {
    var endpoint = new KvQueryEndpoint(log, begun::add);
    ask(endpoint);
    ask(endpoint);
    assertThat(begun).hasSize(1);
    assertThat(askers.get(0).heard).isEmpty();
    begun.remove().run();
    assertThat(askers)
        .allSatisfy(
            asker ->
                assertThat(asker.heard).containsExactly(log.answer(KvQuery.ofAll(RANK)), "end"));
  }

  @Test
  void queriesBeyondTheBoundAreRefused() {
    var endpoint = new KvQueryEndpoint(log, begun::add);
    for (int i = 0; i < KvQueryEndpoint.WAITING; i++) {
      ask(endpoint);
    }
    assertThatThrownBy(() -> ask(endpoint))
        .isInstanceOf(WorkerBusyException.class)
        .hasMessageContaining("wait already");
  }

  @Test
  void queriesThatWaitAreRefusedToWhenTheWorkerStops() {
    var endpoints = new ArrayList<KvQueryEndpoint>();
    endpoints.add(
        new KvQueryEndpoint(
            log,
            _ -> {
              ask(endpoints.get(0)); // waits behind the query that is being answered
              throw new RejectedExecutionException("stopped by the test");
            }));
    assertThatThrownBy(() -> ask(endpoints.get(0)))
        .isInstanceOf(WorkerBusyException.class)
        .hasMessageContaining("stops");
    assertThat(askers.get(1).heard).singleElement().asString().contains("stops");
  }
}
