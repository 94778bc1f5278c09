package io.dynamo.worker.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.Migratable;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.mock.MockEngines;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Runs the engine contract on a sleepable engine, also after it slept. */
class SleepableEngineContractTest extends EngineContract {
  private final List<Engine> made = new ArrayList<>();
  private int forgotten;

  @Override
  protected Engine newEngine() {
    return newSleepable();
  }

  private SleepableEngine newSleepable() {
    return sleepable(
        () -> {
          var engine = MockEngines.quick();
          made.add(engine);
          return EngineParts.of(engine);
        });
  }

  private SleepableEngine sleepable(Supplier<EngineParts> engines) {
    return new SleepableEngine(
        new SleepableEngine.Source() {
          @Override
          public EngineParts make() {
            return engines.get();
          }

          @Override
          public void forgetWeights() {
            forgotten++;
          }
        });
  }

  @Test
  void asleepItHoldsNothingAndItsListenersKnow() throws Exception {
    try (var engine = newSleepable()) {
      var heard = new HeardEvents();
      engine.start(heard);
      var request = Requests.endless(Requests.prompt(1, 16), 4);
      var before = Collected.all(engine.generate(request, Requests.context())).ended();
      assertThat(heard.present()).isNotEmpty();
      var running =
          Collected.all(
                  engine.generate(
                      Requests.endless(Requests.prompt(500, 400), 400), Requests.context()))
              .begun();

      assertThat(engine.sleep(false)).isTrue();
      assertThat(running.ended().failure()).isInstanceOf(Migratable.class);
      assertThat(heard.present()).isEmpty();
      assertThat(engine.ranks()).hasSize(2);
      assertThat(engine.ranks()).allSatisfy(rank -> assertThat(rank.heldBlocks()).isZero());
      assertThatThrownBy(() -> engine.generate(request, Requests.context()))
          .isInstanceOf(Migratable.class);
      assertThat(engine.sleep(false)).isFalse();
      assertThat(forgotten).isZero();

      assertThat(engine.wake()).isTrue();
      assertThat(made).hasSizeGreaterThan(1);
      var after = Collected.all(engine.generate(request, Requests.context())).ended();
      assertThat(after.tokens()).isEqualTo(before.tokens());
      assertThat(engine.wake()).isFalse();
    }
  }

  @Test
  void passesAreToldOfAcrossASleep() throws Exception {
    try (var engine = newSleepable()) {
      engine.start(DEAF);
      var passes = new ArrayList<Integer>();
      engine.reportPassesTo(
          (rank, pass) -> {
            synchronized (passes) {
              passes.add(rank);
            }
          });
      engine.sleep(true);
      assertThat(forgotten).isEqualTo(1);
      engine.wake();
      var request = Requests.endless(new int[] {1, 2, 3}, 4);
      var got = Collected.all(engine.generate(request, Requests.context())).ended();
      assertThat(got.tokens()).hasSize(4);
      engine.sleep(false); // its threads have ended
      synchronized (passes) {
        assertThat(passes).isNotEmpty();
      }
    }
  }

  @Test
  @SuppressWarnings("try") // closed while it wakes
  void askingForItsLoadDoesNotWaitForAnEngineThatWakes() throws Exception {
    var first = MockEngines.quick();
    var slow = new StartsWhenClosed();
    var engines = new ArrayDeque<>(List.of(EngineParts.of(first), EngineParts.of(slow)));
    try (var engine = sleepable(engines::remove)) {
      engine.start(DEAF);
      engine.sleep(false);
      var waking = Thread.ofVirtual().start(() -> assertThatThrownBy(engine::wake).isNotNull());
      assertThat(slow.starting.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(engine.ranks()).as("of the engine that went").hasSize(2);
      assertThat(engine.cancelled()).isZero();
      assertThat(engine.isAsleep()).isTrue();
      engine.close(); // does not wait for it either
      assertThat(waking.join(Duration.ofSeconds(10))).isTrue();
      assertThatThrownBy(engine::wake).isInstanceOf(IllegalStateException.class);
    }
  }

  /** An engine whose start waits until the engine is closed. */
  private static final class StartsWhenClosed implements Engine, LoadReport, PassReport {
    final CountDownLatch starting = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    @Override
    public EngineDescription start(KvEventSink events) {
      starting.countDown();
      try {
        assertThat(closed.await(10, TimeUnit.SECONDS)).as("closed").isTrue();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new IllegalStateException("closed while it started");
    }

    @Override
    public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
      throw new IllegalStateException("not started");
    }

    @Override
    public int running() {
      return 0;
    }

    @Override
    public List<RankLoad> ranks() {
      return List.of();
    }

    @Override
    public long cancelled() {
      return 0;
    }

    @Override
    public long lastCancelNanos() {
      return 0;
    }

    @Override
    public void reportPassesTo(PassReport.Listener listener) {}

    @Override
    public void close() {
      closed.countDown();
    }
  }

  @Test
  void aClosedOneDoesNotWake() {
    var engine = newSleepable();
    engine.start(DEAF);
    engine.sleep(false);
    engine.close();
    assertThatThrownBy(engine::wake).isInstanceOf(IllegalStateException.class);
  }
}
