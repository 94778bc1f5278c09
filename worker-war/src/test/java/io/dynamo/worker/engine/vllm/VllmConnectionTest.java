package io.dynamo.worker.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.EngineOutput;
import io.dynamo.pipeline.LoopThread;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.RemoteEngine;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The connections of generations, and the threads that read them. */
@Timeout(60)
class VllmConnectionTest {
  private static final int[] PROMPT = {300, 337, 374};

  private FakeVllm server;
  private RemoteEngine engine;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeVllm();
    engine = VllmEngineContractTest.engine(server.address(), Duration.ofSeconds(20), null);
    engine.start(EngineContract.DEAF);
  }

  @AfterEach
  void stop() {
    engine.close();
    server.close();
  }

  /** Collects the threads that call it. */
  private static final class Threads implements Flow.Subscriber<EngineOutput> {
    final Set<Thread> seen = ConcurrentHashMap.newKeySet();
    final CompletableFuture<Set<Thread>> all = new CompletableFuture<>();

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      seen.add(Thread.currentThread());
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(EngineOutput item) {
      seen.add(Thread.currentThread());
    }

    @Override
    public void onError(Throwable cause) {
      all.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
      seen.add(Thread.currentThread());
      all.complete(seen);
    }
  }

  @Test
  void tokensStayOnTheEventLoopOnWhichTheirRequestCame() throws Exception {
    for (int i = 0; i < 4; i++) { // each loop in turn, and back to the first
      var threads = new Threads();
      LoopThread.near(SharedLoops.LOOPS)
          .execute(
              () -> engine.generate(Requests.of(PROMPT, 5), Requests.context()).subscribe(threads));
      assertThat(threads.all.get(30, TimeUnit.SECONDS)).hasSize(1);
    }
  }

  @Test
  void connectionsServeOneGenerationAfterTheOther() throws Exception {
    var ports = new HashSet<Integer>();
    do { // a request that overtakes the end of the answer before it takes another connection
      Collected.all(engine.generate(Requests.of(PROMPT, 2), Requests.context())).ended();
    } while (ports.add(server.request().port()));
    assertThat(ports).isNotEmpty();
  }
}
