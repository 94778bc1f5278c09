package io.dynamo.frontend.kserve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiException;
import io.dynamo.inference.tensor.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Answers about models, as protobuf's own library reads them. */
class LookupMessagesTest {
  private static final ModelDescription TEXTS = ModelDescription.ofTexts("tiny");

  @Test
  void metadataAreThoseOfDynamo() {
    assertThat(Published.decode("ModelMetadataResponse", LookupMessages.modelMetadata(TEXTS)))
        .isEqualTo(
            "name: \"tiny\" versions: \"1\" platform: \"dynamo\""
                + " inputs { name: \"text_input\" datatype: \"BYTES\" shape: 1 }"
                + " inputs { name: \"streaming\" datatype: \"BOOL\" shape: 1 }"
                + " outputs { name: \"text_output\" datatype: \"BYTES\" shape: -1 }"
                + " outputs { name: \"finish_reason\" datatype: \"BYTES\" shape: -1 }");
  }

  @Test
  void configurationIsThatOfDynamo() {
    assertThat(Published.decode("ModelConfigResponse", LookupMessages.modelConfig(TEXTS)))
        .isEqualTo(
            "config { name: \"tiny\" platform: \"dynamo\""
                + " input { name: \"text_input\" data_type: TYPE_STRING dims: 1 }"
                + " input { name: \"streaming\" data_type: TYPE_BOOL dims: 1 optional: true }"
                + " output { name: \"text_output\" data_type: TYPE_STRING dims: -1 }"
                + " output { name: \"finish_reason\" data_type: TYPE_STRING dims: -1 }"
                + " backend: \"dynamo\" }");
  }

  @Test
  void typesHaveThePublishedNumbers() {
    for (var type : TensorType.values()) {
      var model =
          new ModelDescription(
              "m", List.of(new TensorSpec("x", type, List.of(), false)), List.of());
      assertThat(Published.decode("ModelConfigResponse", LookupMessages.modelConfig(model)))
          .contains("TYPE_" + (type == TensorType.BYTES ? "STRING" : type.name()) + " ");
    }
  }

  @Test
  void serverAndItsModelsAreDescribed() {
    assertThat(
            Published.decode(
                "ServerMetadataResponse",
                LookupMessages.serverMetadata(
                    new ServerDescription("dynamo", "1.2", List.of("a", "b")))))
        .isEqualTo("name: \"dynamo\" version: \"1.2\" extensions: \"a\" extensions: \"b\"");
    assertThat(
            Published.decode(
                "RepositoryIndexResponse",
                LookupMessages.repositoryIndex(List.of(new ListedModel("a/b", true)))))
        .isEqualTo("models { name: \"a/b\" version: \"1\" state: \"READY\" }");
    assertThat(Published.decode("ServerReadyResponse", LookupMessages.flag(true)))
        .isEqualTo("ready: true");
    assertThat(LookupMessages.flag(false)).isEmpty();
  }

  @Test
  void modelOfARequestIsRead() {
    assertThat(
            LookupMessages.model(
                Published.encode("ModelReadyRequest", "name: 'tiny' version: '7'")))
        .isEqualTo(new NamedModel("tiny", "7"));
    assertThat(LookupMessages.model(new byte[0])).isEqualTo(new NamedModel("", ""));
  }

  @Test
  void malformedAndLongRequestsAreRefused() {
    assertThatThrownBy(() -> LookupMessages.model(new byte[] {10, 100}))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(400));
    assertThatThrownBy(() -> LookupMessages.model(new byte[LookupMessages.MAX_REQUEST + 1]))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(413));
  }
}
