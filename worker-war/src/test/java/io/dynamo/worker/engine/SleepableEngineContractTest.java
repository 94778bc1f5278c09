package io.dynamo.worker.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.Migratable;
import io.dynamo.worker.engine.mock.MockEngines;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An engine that can sleep is an engine, and the same one after it. */
class SleepableEngineContractTest extends EngineContract {
  private final List<Engine> made = new ArrayList<>();
  private int forgotten;

  @Override
  protected Engine newEngine() {
    return newSleepable();
  }

  private SleepableEngine newSleepable() {
    return new SleepableEngine(
        new SleepableEngine.Source() {
          @Override
          public EngineParts make() {
            var engine = MockEngines.quick();
            made.add(engine);
            return EngineParts.of(engine);
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
                      Requests.endless(Requests.prompt(1, 400), 400), Requests.context()))
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
      engine.tellPasses(
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
  void aClosedOneDoesNotWake() {
    var engine = newSleepable();
    engine.start(DEAF);
    engine.sleep(false);
    engine.close();
    assertThatThrownBy(engine::wake).isInstanceOf(IllegalStateException.class);
  }
}
