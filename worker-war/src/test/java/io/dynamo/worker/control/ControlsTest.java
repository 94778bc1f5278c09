package io.dynamo.worker.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.json.JsonObject;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import io.dynamo.runtime.status.EngineRoutes;
import io.dynamo.worker.TestWorker;
import io.dynamo.worker.engine.EngineParts;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.mock.MockEngines;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the commands on both ways, and their answers in Dynamo's words. */
class ControlsTest {
  @TempDir Path folder;
  private final TestWorker worker =
      new TestWorker(() -> EngineParts.of(MockEngines.quick()), false).started();
  private final EngineCommands routes =
      new EngineCommands(worker.status.engine(), List.of(worker.controls));
  private ControlEndpoints endpoints = endpoints(Runnable::run);

  private ControlEndpoints endpoints(Executor blocking) {
    return new ControlEndpoints(
        TestWorker.ENDPOINT, PayloadFormat.MSGPACK, worker.planes, worker.planes, blocking);
  }

  @AfterEach
  void close() {
    endpoints.close();
    routes.close();
    worker.close();
  }

  private Map<String, @Nullable Object> route(String path, Object... members) throws Exception {
    return run(worker.status.engine(), path, members);
  }

  @SuppressWarnings("unchecked") // the endpoint determines the types
  private CompletableFuture<JsonObject> ask(String endpoint, Object... members) {
    var handler = (EndpointHandler<JsonObject, JsonObject>) worker.served(endpoint);
    var context =
        new RequestContext(
            "r", Map.of(), Map.of(), Deadline.after(Duration.ofMinutes(1)), new Cancellation());
    var answer = new CompletableFuture<JsonObject>();
    handler
        .handle(JsonObject.of(JsonObject.ordered(members)), context)
        .subscribe(
            new Flow.Subscriber<>() {
              @Override
              public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(2);
              }

              @Override
              public void onNext(JsonObject item) {
                answer.complete(item);
              }

              @Override
              public void onError(Throwable cause) {
                answer.completeExceptionally(cause);
              }

              @Override
              public void onComplete() {
                answer.completeExceptionally(new AssertionError("no answer"));
              }
            });
    return answer;
  }

  private String uri() throws IOException {
    Files.writeString(folder.resolve("adapter_config.json"), "{}");
    Files.write(folder.resolve("adapter_model.safetensors"), new byte[8]);
    return folder.toUri().toString();
  }

  @Test
  void sleepAndWakeAnswerAsVllmWorkersDo() throws Exception {
    assertThat(route("control/is_sleeping")).containsEntry("is_sleeping", false);
    assertThat(route("control/sleep"))
        .isEqualTo(Map.of("status", "ok", "message", "Engine slept (level=1)"));
    assertThat(route("control/sleep", "level", 2L))
        .isEqualTo(Map.of("status", "ok", "message", "Engine already sleeping"));
    assertThat(route("control/is_sleeping")).containsEntry("is_sleeping", true);
    assertThat(worker.isFound()).isFalse();
    assertThat(route("control/wake_up"))
        .isEqualTo(Map.of("status", "ok", "message", "Engine woke"));
    assertThat(route("control/wake_up"))
        .isEqualTo(Map.of("status", "ok", "message", "Engine already awake"));
    assertThat(worker.isFound()).isTrue();
  }

  @Test
  void aLevelThatIsNoneIsAnErrorInTheAnswer() throws Exception {
    for (var level : new Object[] {0L, 4L, 1.5, "1"}) {
      assertThat(route("control/sleep", "level", level)).containsEntry("status", "error");
    }
    assertThat(worker.isFound()).isTrue();
  }

  @Test
  void theCacheIsClearedByEitherWay() throws Exception {
    endpoints.open(worker.controls);
    worker.generate(Requests.endless(Requests.prompt(1, 40), 2)).ended();
    assertThat(cachedBlocks()).isPositive();
    var done = Map.of("status", "success", "message", "KV cache cleared");
    assertThat(route("control/clear_kv_blocks")).isEqualTo(done);
    long begun = System.nanoTime();
    while (cachedBlocks() > 0) {
      assertThat(System.nanoTime() - begun).isLessThan(TimeUnit.SECONDS.toNanos(10));
      Thread.onSpinWait();
    }
    assertThat(ask("clear_kv_blocks").get(1, TimeUnit.SECONDS).members()).isEqualTo(done);
  }

  private Object taintsOfTheCard() {
    var cards =
        worker.records.stream()
            .filter(ModelRecord.class::isInstance)
            .map(record -> ((ModelRecord) record).card())
            .toList();
    assertThat(cards).hasSize(1);
    return String.valueOf(cards.getFirst().runtimeConfig().get("taints"));
  }

  @Test
  void taintsAreReplacedInTheCard() throws Exception {
    assertThat(taintsOfTheCard()).isEqualTo("null");
    assertThat(route("update/model_taints", "taints", List.of("b", "a", "b")))
        .isEqualTo(Map.of("status", "ok", "taints", List.of("a", "b")));
    assertThat(taintsOfTheCard()).isEqualTo("[a, b]");
    assertThat(route("update/model_taints", "taints", List.of()))
        .isEqualTo(Map.of("status", "ok", "taints", List.of()));
    assertThat(taintsOfTheCard()).isEqualTo("[]");
    assertThat(worker.isFound()).isTrue();
  }

  @Test
  void taintsThatAreNoneChangeNothing() throws Exception {
    route("update/model_taints", "taints", List.of("a"));
    for (var wrong :
        new Object[] {
          "fast",
          Map.of("fast", 1L),
          List.of(1L),
          List.of("dynamo.topology/zone=west"),
          List.of(" "),
          List.of("x".repeat(257)),
          Collections.nCopies(257, "x"),
        }) {
      assertThat(route("update/model_taints", "taints", wrong))
          .as("%s", wrong)
          .containsEntry("status", "error");
    }
    assertThat(route("update/model_taints"))
        .containsEntry("message", "'taints' must be a JSON array of strings");
    assertThat(route("update/model_taints", "taints", List.of("dynamo.topology/zone=west")))
        .containsEntry(
            "message", "taint 'dynamo.topology/zone=west' uses reserved prefix 'dynamo.topology/'");
    assertThat(taintsOfTheCard()).isEqualTo("[a]");
  }

  @Test
  void aWorkerThatHasLeftKeepsItsTaints() throws Exception {
    worker.close();
    assertThat(route("update/model_taints", "taints", List.of("a")))
        .containsEntry("status", "error")
        .hasEntrySatisfying(
            "message", why -> assertThat(why).asString().contains("does not serve"));
  }

  private int cachedBlocks() {
    return worker.engine.ranks().stream().mapToInt(rank -> rank.cachedBlocks()).sum();
  }

  @Test
  void adaptersAreLoadedListedAndUnloadedOnTheRequestPlane() throws Exception {
    endpoints.open(worker.controls);
    assertThat(worker.records.stream().filter(Instance.class::isInstance))
        .extracting(record -> ((Instance) record).endpoint().name())
        .contains("clear_kv_blocks", "load_lora", "unload_lora", "list_loras");
    var loaded =
        ask("load_lora", "lora_name", "ad", "source", Map.of("uri", uri()))
            .get(1, TimeUnit.SECONDS);
    assertThat(loaded.members())
        .containsEntry("status", "success")
        .containsEntry("message", "LoRA adapter 'ad' loaded successfully")
        .containsEntry("hot_swap", false)
        .containsKey("lora_id");
    assertThat(ask("list_loras").get(1, TimeUnit.SECONDS).members())
        .isEqualTo(route("list_loras"))
        .containsEntry("count", 1);
    assertThat(ask("unload_lora", "lora_name", "ad").get(1, TimeUnit.SECONDS).members())
        .containsEntry("message", "LoRA adapter 'ad' unloaded successfully");
    assertThat(ask("load_lora", "lora_name", "ad").get(1, TimeUnit.SECONDS).members())
        .containsEntry("status", "error")
        .containsEntry("message", "'source.uri' is required and must be a string");
    assertThat(ask("unload_lora").get(1, TimeUnit.SECONDS).members())
        .containsEntry("message", "'lora_name' is required and must be a string");
    endpoints.close();
    assertThat(worker.records.stream().filter(Instance.class::isInstance))
        .extracting(record -> ((Instance) record).endpoint().name())
        .doesNotContain("clear_kv_blocks", "load_lora");
  }

  @Test
  void commandsAtWorkAreBounded() {
    var waiting = new ArrayList<Runnable>();
    endpoints = endpoints(waiting::add);
    endpoints.open(worker.controls);
    for (int i = 0; i < ControlEndpoints.AT_ONCE; i++) {
      var _ = ask("list_loras");
    }
    assertThatThrownBy(() -> ask("list_loras")).isInstanceOf(WorkerBusyException.class);
    waiting.forEach(Runnable::run);
    waiting.clear();
    var _ = ask("list_loras");
    assertThat(waiting).hasSize(1);
  }

  @Test
  void withSeveralModelsACommandSaysWhich() throws Exception {
    try (var other = new TestWorker(() -> EngineParts.of(MockEngines.quick()), false).started()) {
      var second = new ModelControls("n", other.service, other.engine, other.adapters);
      var both = new EngineRoutes();
      try (var _ = new EngineCommands(both, List.of(worker.controls, second))) {
        assertThat(run(both, "control/sleep").get("message"))
            .isEqualTo("several models are served here; say \"model\", one of [m, n]");
        assertThat(run(both, "control/sleep", "model", "x").get("message"))
            .isEqualTo("no model 'x' is served here; one of [m, n]");
        assertThat(run(both, "control/sleep", "model", "n")).containsEntry("status", "ok");
        assertThat(other.isFound()).isFalse();
        assertThat(worker.isFound()).isTrue();
        run(both, "load_lora", "model", "m", "lora_name", "ad", "source", Map.of("uri", uri()));
        assertThat(run(both, "list_loras")).containsEntry("count", 1);
        assertThat(run(both, "unload_lora", "lora_name", "ad"))
            .as("only one has it")
            .containsEntry("status", "success");
      }
      assertThat(both.find("control/sleep")).isNull();
    }
  }

  private static Map<String, @Nullable Object> run(
      EngineRoutes routes, String path, Object... members) throws Exception {
    var route = routes.find(path);
    if (route == null) {
      throw new AssertionError(path + " is not offered");
    }
    return new LinkedHashMap<>(route.handler().run(JsonObject.of(JsonObject.ordered(members))));
  }
}
