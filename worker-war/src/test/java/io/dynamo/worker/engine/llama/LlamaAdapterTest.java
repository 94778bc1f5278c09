package io.dynamo.worker.engine.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.llama.weights.LlamaWeights;
import io.dynamo.worker.engine.llama.weights.LoraWeights;
import io.dynamo.worker.engine.llama.weights.Safetensors;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that an adapter computes the same as a model with the sums written into it. */
class LlamaAdapterTest {
  private static final int OUT = 3;
  private static final int IN = 5;
  private static final float BY = 1.5f;

  @TempDir Path folder;
  private final ManualPacer time = new ManualPacer();
  private final List<LlamaEngine> engines = new ArrayList<>();

  @AfterEach
  void close() {
    engines.forEach(LlamaEngine::close);
  }

  private LlamaEngine engine(LlamaModel model) {
    var config = new LlamaEngineConfig(1, 8, 8, 16, 64, 64, 64);
    var engine = new LlamaEngine(config, model, new HeapMemory(), time, () -> 1);
    engine.start(EngineContract.DEAF);
    engines.add(engine);
    return engine;
  }

  private static LlamaModel model() {
    return TinyModel.model(Kernels.best());
  }

  /** Returns the model with {@code 2 * BY} added to one number of each layer's query projection. */
  private static LlamaModel changed() throws Exception {
    var model = model();
    var weights = model.weights();
    var shape = weights.shape();
    var layers = new ArrayList<LlamaWeights.Layer>();
    try (var tensors = Safetensors.open(TinyModel.DIRECTORY.resolve("model.safetensors"))) {
      for (int i = 0; i < shape.layers(); i++) {
        var layer = weights.layers().get(i);
        var query =
            tensors.read(
                "model.layers." + i + ".self_attn.q_proj.weight",
                shape.queryWidth(),
                shape.hidden());
        query[OUT * shape.hidden() + IN] += 2 * BY;
        layers.add(
            new LlamaWeights.Layer(
                layer.attentionNorm(),
                weights.kernel().pack(query, shape.queryWidth(), shape.hidden()),
                layer.key(),
                layer.value(),
                layer.attentionOutput(),
                layer.feedForwardNorm(),
                layer.gate(),
                layer.up(),
                layer.down()));
      }
    }
    return new LlamaModel(
        new LlamaWeights(
            weights.directory(),
            weights.digest(),
            shape,
            weights.kernel(),
            weights.embedding(),
            layers,
            weights.norm(),
            weights.output()),
        model.ends(),
        model.sampling(),
        model.vocabulary());
  }

  private static GenerateRequest ask(int first, Map<String, Object> hints) {
    return Requests.of(
            Requests.prompt(first, 40),
            new StopConditions(6, List.of(), List.of(), null, true),
            SamplingOptions.DEFAULTS,
            new OutputOptions(3, null, null, null, null))
        .routedTo(new RoutingHints(null, PassedOn.of(hints)));
  }

  private static Collected begin(LlamaEngine engine, GenerateRequest request) {
    return Collected.all(engine.generate(request, Requests.context()));
  }

  private Collected run(LlamaEngine engine, GenerateRequest request) {
    var got = begin(engine, request);
    time.settle();
    assertThat(got.isEnded()).isTrue();
    return got;
  }

  /** Returns the tokens and their log probabilities, to compare bits instead of texts. */
  private static List<Double> numbers(Collected got) {
    return got.items().stream()
        .flatMap(
            item ->
                IntStream.range(0, item.tokenIds().length)
                    .mapToObj(i -> Objects.requireNonNull(item.logprobs()).cumulative()))
        .toList();
  }

  @Test
  void anAdapterGivesTheNumbersOfTheChangedModelAndTheModelKeepsItsOwn() throws Exception {
    var adapted = engine(model());
    adapted.loadAdapter("ad", TinyAdapter.write(folder, OUT, IN, BY));
    var plain = run(engine(model()), ask(300, Map.of()));
    var expected = run(engine(changed()), ask(300, Map.of()));
    assertThat(numbers(expected)).isNotEqualTo(numbers(plain));

    var one = begin(adapted, ask(300, Map.of("lora_name", "ad")));
    var other = begin(adapted, ask(300, Map.of()));
    time.settle();
    assertThat(one.tokens()).isEqualTo(expected.tokens());
    assertThat(numbers(one)).as("in one batch with the model").isEqualTo(numbers(expected));
    assertThat(other.tokens()).isEqualTo(plain.tokens());
    assertThat(numbers(other)).isEqualTo(numbers(plain));
  }

  @Test
  void anotherAdapterOfTheSameNameReusesNothingOfTheFirst() throws Exception {
    var engine = engine(model());
    var request = ask(300, Map.of("lora_name", "ad"));
    engine.loadAdapter("ad", TinyAdapter.write(folder, OUT, IN, 9f));
    run(engine, request);
    var running = begin(engine, ask(700, Map.of("lora_name", "ad")));
    time.advanceTicks(1);
    engine.unloadAdapter("ad");
    assertThatThrownBy(() -> engine.generate(request, Requests.context()))
        .isInstanceOf(WorkerBusyException.class);
    engine.loadAdapter("ad", TinyAdapter.write(folder, OUT, IN, BY));
    var again = run(engine, request);
    assertThat(running.failure()).isInstanceOf(WorkerBusyException.class);
    assertThat(numbers(again)).isEqualTo(numbers(run(engine(changed()), ask(300, Map.of()))));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"use_dora\":true,|use_dora is not supported",
        "\"bias\":\"all\",|bias is not supported",
        "\"rank_pattern\":{\"a\":2},|rank_pattern is not supported",
        "\"modules_to_save\":[\"lm_head\"],|modules_to_save is not supported"
      })
  void unsupportedAdaptersAreRefused(String more, String why) throws Exception {
    var adapter = TinyAdapter.write(folder, OUT, IN, BY, more);
    assertThatThrownBy(() -> LoraWeights.merged(model().weights(), adapter))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("adapter_config.json")
        .hasMessageContaining(why);
  }
}
