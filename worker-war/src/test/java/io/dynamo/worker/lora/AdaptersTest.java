package io.dynamo.worker.lora;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.ModelRecord;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.model.LoraAdapter;
import io.dynamo.worker.TestWorker;
import io.dynamo.worker.engine.EngineParts;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.ThreadPacer;
import io.dynamo.worker.engine.echo.EchoEngine;
import io.dynamo.worker.engine.mock.MockEngines;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdaptersTest {
  @TempDir Path folder;
  private TestWorker worker =
      new TestWorker(() -> EngineParts.of(MockEngines.quick()), false).started();
  private String uri;

  @BeforeEach
  void adapter() throws IOException {
    Files.writeString(folder.resolve("adapter_config.json"), "{\"r\":4}");
    Files.write(folder.resolve("adapter_model.safetensors"), new byte[8]);
    uri = folder.toUri().toString();
  }

  @AfterEach
  void close() {
    worker.close();
  }

  private Adapters adapters() {
    return worker.adapters;
  }

  private static GenerateRequest ask(String model, Map<String, Object> hints) {
    var request = Requests.endless(Requests.prompt(1, 9), 40);
    return new GenerateRequest(
        model,
        request.tokenIds(),
        request.stop(),
        request.sampling(),
        request.output(),
        request.eosTokenIds(),
        null,
        request.annotations(),
        new RoutingHints(null, PassedOn.of(hints)),
        request.extraArgs());
  }

  @Test
  void aLoadedAdapterIsAModelOfItsOwnInDiscovery() {
    assertThat(adapters().load("Ad/apter A", uri)).isTrue();
    assertThat(worker.cards()).extracting(ModelRecord::suffix).containsExactly(null, "ad_apter_a");
    var card = worker.cards().getLast().card();
    assertThat(card.displayName()).isEqualTo("Ad/apter A");
    assertThat(card.lora())
        .isEqualTo(new LoraAdapter("Ad/apter A", 2, LoraAdapter.idOf("Ad/apter A")));
    assertThat(card.blockTokens()).isEqualTo(worker.cards().getFirst().card().blockTokens());
    assertThat(adapters().ids()).containsOnlyKeys("Ad/apter A");

    assertThat(adapters().load("Ad/apter A", uri)).as("a second time").isFalse();
    assertThat(worker.cards()).hasSize(2);

    adapters().unload("Ad/apter A");
    assertThat(worker.cards()).hasSize(1);
    assertThat(adapters().ids()).isEmpty();
    assertThatThrownBy(() -> adapters().unload("Ad/apter A"))
        .hasMessage("LoRA adapter 'Ad/apter A' not found. Available LoRAs: []");
  }

  @Test
  void anAdapterMakesOtherTokensThanItsModelByEitherNameOfIt() throws Exception {
    adapters().load("ad", uri);
    var base = worker.generate(ask("m", Map.of())).ended().tokens();
    var byHint = worker.generate(ask("ad", Map.of("lora_name", "ad"))).ended().tokens();
    var byModel = worker.generate(ask("ad", Map.of())).ended().tokens();
    assertThat(byHint).isEqualTo(byModel).isNotEqualTo(base).hasSize(40);
  }

  @Test
  void modelsAndAdaptersOfOtherWorkersAreRefusedSoThatTheRequestMigrates() {
    adapters().load("ad", uri);
    assertThatThrownBy(() -> worker.generate(ask("m", Map.of("lora_name", "other"))))
        .isInstanceOf(WorkerBusyException.class)
        .hasMessageContaining("other");
    for (var hints : List.<Map<String, Object>>of(Map.of(), Map.of("lora_name", "ad"))) {
      assertThatThrownBy(() -> worker.generate(ask("other", hints)))
          .isInstanceOf(WorkerBusyException.class)
          .hasMessageContaining("'other' is not served here")
          .hasMessageContaining("'m'")
          .hasMessageContaining("[ad]");
    }
  }

  @Test
  void aRequestThatNamesNoModelIsForTheOneThatIsServed() throws Exception {
    assertThat(worker.generate(ask("", Map.of())).ended().tokens()).hasSize(40);
  }

  @Test
  void anAdapterComesBackWithItsEngine() throws Exception {
    adapters().load("ad", uri);
    var before = worker.generate(ask("ad", Map.of())).ended().tokens();
    worker.service.sleep(2);
    assertThatThrownBy(() -> adapters().load("late", uri)).hasMessageContaining("sleeps");
    assertThat(adapters().ids()).containsOnlyKeys("ad");
    worker.service.wake();
    assertThat(worker.generate(ask("ad", Map.of())).ended().tokens()).isEqualTo(before);
  }

  @Test
  void adaptersThatTheEnginesServerHasAreModelsToo() throws Exception {
    var present = new LinkedHashMap<String, Path>();
    present.put("m", folder); // the model's own name is not an adapter's
    present.put("ad", folder);
    adapters().adopt(() -> present);
    assertThat(adapters().ids()).containsOnlyKeys("ad");
    assertThat(worker.cards()).extracting(ModelRecord::suffix).containsExactly(null, "ad");
    assertThat(worker.generate(ask("ad", Map.of())).ended().tokens()).hasSize(40);
    adapters().adopt(() -> present);
    assertThat(worker.cards()).as("a second time").hasSize(2);
  }

  @Test
  void aServerThatDoesNotListItsAdaptersIsServedWithoutThem() {
    adapters()
        .adopt(
            () -> {
              throw new IllegalStateException("cannot be reached");
            });
    assertThat(adapters().ids()).isEmpty();
  }

  @Test
  void namesAndPlacesAreBounded() {
    assertThatThrownBy(() -> adapters().load("m", uri)).hasMessageContaining("the model itself");
    assertThatThrownBy(() -> adapters().load(" ", uri)).hasMessageContaining("'lora_name'");
    assertThatThrownBy(() -> adapters().load("x".repeat(257), uri)).hasMessageContaining("256");
    adapters().load("a/b", uri);
    assertThatThrownBy(() -> adapters().load("a.b", uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a/b");
    adapters().load("c", uri);
    assertThatThrownBy(() -> adapters().load("d", uri))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("LoRA capacity exceeded: at most 2");
  }

  @Test
  void sourcesThatAreNoAdapterAreRefusedByWhatIsWrong() throws IOException {
    for (var refused :
        Map.of(
                "s3://bucket/ad",
                "file://",
                "no uri at all\u0000",
                "no URI",
                folder.resolve("missing").toUri().toString(),
                "Local LoRA not found",
                "file://host/ad",
                "no path here")
            .entrySet()) {
      assertThatThrownBy(() -> adapters().load("ad", refused.getKey()))
          .as(refused.getKey())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(refused.getValue());
    }
    Files.delete(folder.resolve("adapter_config.json"));
    assertThatThrownBy(() -> adapters().load("ad", uri))
        .hasMessageContaining("expected adapter_config.json and adapter_model.safetensors");
    assertThat(worker.cards()).hasSize(1);
  }

  @Test
  void anEngineWithoutAdaptersSaysSo() {
    worker.close();
    worker =
        new TestWorker(
                () -> {
                  var echo =
                      new EchoEngine(
                          new EchoEngine.Config(100, 4, 2, Duration.ZERO, 8), new ThreadPacer());
                  return new EngineParts(echo, echo, _ -> {});
                },
                false)
            .started();
    assertThatThrownBy(() -> adapters().load("ad", uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("takes no LoRA adapters");
    assertThat(worker.cards()).hasSize(1);
  }

  @Test
  void aWorkerThatLeavesTakesItsAdaptersAlong() {
    adapters().load("ad", uri);
    adapters().close();
    assertThat(worker.cards()).hasSize(1);
    assertThatThrownBy(() -> adapters().load("ad", uri)).isInstanceOf(IllegalStateException.class);
  }
}
