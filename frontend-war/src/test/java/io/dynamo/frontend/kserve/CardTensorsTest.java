package io.dynamo.frontend.kserve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.TestCard;
import io.dynamo.inference.tensor.TensorType;
import io.dynamo.json.Json;
import io.dynamo.model.ModelCard;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The description of a model's tensors on its workers' card. */
class CardTensorsTest {
  private static ModelCard card(Map<String, @Nullable Object> config) {
    return TestCard.named("m")
        .modelInput("Tensor")
        .modelTypes(Set.of("TensorBased"))
        .tensorConfig(config)
        .build();
  }

  private static ModelCard card(String json) {
    return TestCard.named("m")
        .tensorConfig(
            Json.readObject(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8)).members())
        .build();
  }

  @Test
  void cardsDescribeTheirTensors() {
    var model =
        CardTensors.of(
                card(
                    "{'name':'other','inputs':[{'name':'a','data_type':'Float16','shape':[-1,3]}],"
                        + "'outputs':[{'name':'b','data_type':'Bytes','shape':[]}]}"))
            .orElseThrow();

    assertThat(model.name()).isEqualTo("m");
    assertThat(model.inputs())
        .containsExactly(new TensorSpec("a", TensorType.FP16, List.of(-1L, 3L), false));
    assertThat(model.outputs())
        .containsExactly(new TensorSpec("b", TensorType.BYTES, List.of(), false));
    assertThat(CardTensors.of(card(Map.of()))).isEmpty();
  }

  private static final String TRITON =
      """
      config { name: 'echo' platform: 'custom' max_batch_size: 8
        input { name: 'a' data_type: TYPE_INT32 dims: [-1, 4] optional: true }
        output { name: 'b' data_type: TYPE_STRING dims: [2] }
        model_transaction_policy { decoupled: true } }
      """;

  /** Triton's message as cards have it: a list of numbers. */
  private static ModelCard triton() {
    var answer = Published.encode("ModelConfigResponse", TRITON); // a tag, a length, the message
    var bytes = new ArrayList<Long>();
    for (int i = 2; i < answer.length; i++) {
      bytes.add(answer[i] & 0xFFL);
    }
    assertThat(answer[1]).as("the length").isEqualTo((byte) bytes.size());
    return card(
        Map.of(
            "name", "", "inputs", List.of(), "outputs", List.of(), "triton_model_config", bytes));
  }

  @Test
  void configurationsOfTritonAreGivenAsTheyAre() {
    var model = CardTensors.of(triton()).orElseThrow();

    assertThat(Published.decode("ModelConfigResponse", LookupMessages.modelConfig(model)))
        .isEqualTo(
            Published.decode(
                "ModelConfigResponse", Published.encode("ModelConfigResponse", TRITON)));
    assertThat(Published.decode("ModelMetadataResponse", LookupMessages.modelMetadata(model)))
        .as("a dimension for requests stands before the others")
        .isEqualTo(
            "name: \"echo\" versions: \"1\" platform: \"custom\""
                + " inputs { name: \"a\" datatype: \"INT32\" shape: -1 shape: -1 shape: 4 }"
                + " outputs { name: \"b\" datatype: \"BYTES\" shape: -1 shape: 2 }");
    assertThat(model.inputs().getFirst().optional()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'inputs':7}",
        "{'inputs':[7]}",
        "{'inputs':[{'name':'a'}]}",
        "{'inputs':[{'name':'a','data_type':'Int128','shape':[]}]}",
        "{'inputs':[{'name':'a','data_type':'Int8'}]}",
        "{'inputs':[{'name':'a','data_type':'Int8','shape':[1.5]}]}",
        "{'triton_model_config':[256]}",
        "{'triton_model_config':['x']}",
        "{'triton_model_config':[10,50]}",
        "{'triton_model_config':[42,2,16,99]}",
      })
  void malformedDescriptionsAreTheWorkersFault(String json) {
    assertThatThrownBy(() -> CardTensors.of(card(json)))
        .isInstanceOfSatisfying(
            ApiException.class,
            e -> {
              assertThat(e.error().status()).isEqualTo(502);
              assertThat(Objects.requireNonNull(e.error().message()))
                  .contains("tensor_model_config of its workers' card is malformed");
            });
  }

  @Test
  void descriptionsAreBounded() {
    var tensor = "{'name':'a','data_type':'Int8','shape':[1]}";
    assertThatThrownBy(
            () -> CardTensors.of(card("{'inputs':[" + (tensor + ",").repeat(1024) + tensor + "]}")))
        .isInstanceOf(ApiException.class);
    assertThatThrownBy(
            () ->
                CardTensors.of(
                    card(
                        "{'inputs':[{'name':'a','data_type':'Int8','shape':["
                            + "1,".repeat(64)
                            + "1]}]}")))
        .isInstanceOf(ApiException.class);
  }
}
