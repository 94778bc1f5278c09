package io.dynamo.frontend.apidoc;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.openai.wire.ChatRequestReader;
import io.dynamo.frontend.openai.wire.CompletionRequestReader;
import io.dynamo.frontend.openai.wire.DetokenizeRequest;
import io.dynamo.frontend.openai.wire.EmbeddingsRequest;
import io.dynamo.frontend.openai.wire.MessagesReader;
import io.dynamo.frontend.openai.wire.ResponsesReader;
import io.dynamo.frontend.openai.wire.SglangGenerateReader;
import io.dynamo.frontend.openai.wire.TaskRequest;
import io.dynamo.frontend.openai.wire.TokenizeRequest;
import io.dynamo.frontend.openai.wire.VllmGenerateReader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The description of the API agrees with what the code reads, and is complete in itself. */
class ApiDocumentTest {
  /** Answers without a body: a socket that is open, and a command that is taken. */
  private static final Set<String> BODILESS = Set.of("101", "202");

  private final JsonNode document = DescribedOperations.document();

  private List<JsonNode> operations() {
    var operations = new ArrayList<JsonNode>();
    document.get("paths").forEach(path -> path.forEach(operations::add));
    return operations;
  }

  private Set<String> fields(String schema) {
    var names = new HashSet<String>();
    document
        .at("/components/schemas/" + schema + "/properties")
        .fieldNames()
        .forEachRemaining(names::add);
    return names;
  }

  @Test
  void everyFieldThatIsReadIsDescribedAndNoOther() {
    assertThat(fields("ChatCompletionRequest"))
        .containsExactlyInAnyOrderElementsOf(ChatRequestReader.names());
    assertThat(fields("CompletionRequest"))
        .containsExactlyInAnyOrderElementsOf(CompletionRequestReader.names());
    assertThat(fields("MessagesRequest"))
        .containsExactlyInAnyOrderElementsOf(MessagesReader.names());
    assertThat(fields("ResponsesRequest"))
        .containsExactlyInAnyOrderElementsOf(ResponsesReader.names());
    assertThat(fields("EmbeddingsRequest"))
        .containsExactlyInAnyOrderElementsOf(EmbeddingsRequest.names());
    assertThat(fields("RerankRequest"))
        .containsExactlyInAnyOrderElementsOf(TaskRequest.Kind.RERANK.names());
    assertThat(fields("ClassifyRequest"))
        .containsExactlyInAnyOrderElementsOf(TaskRequest.Kind.CLASSIFY.names());
    assertThat(fields("PoolingRequest"))
        .containsExactlyInAnyOrderElementsOf(TaskRequest.Kind.POOLING.names());
    assertThat(fields("ImageRequest"))
        .containsExactlyInAnyOrderElementsOf(TaskRequest.Kind.IMAGES.names());
    assertThat(fields("VideoRequest"))
        .containsExactlyInAnyOrderElementsOf(TaskRequest.Kind.VIDEOS.names());
    assertThat(fields("SpeechRequest"))
        .containsExactlyInAnyOrderElementsOf(TaskRequest.Kind.SPEECH.names());
    assertThat(fields("TokenizeRequest"))
        .containsExactlyInAnyOrderElementsOf(TokenizeRequest.names());
    assertThat(fields("DetokenizeRequest"))
        .containsExactlyInAnyOrderElementsOf(DetokenizeRequest.names());
    assertThat(fields("VllmGenerateRequest"))
        .containsExactlyInAnyOrderElementsOf(VllmGenerateReader.names());
    assertThat(fields("SglangGenerateRequest"))
        .containsExactlyInAnyOrderElementsOf(SglangGenerateReader.names());
  }

  /** The container answers 500 for a document with one: its merge cannot copy them. */
  @Test
  void noSchemaIsABoolean() {
    assertThat(document.findValues("additionalProperties")).allMatch(JsonNode::isObject);
    assertThat(document.findValues("items")).allMatch(JsonNode::isObject);
  }

  @Test
  void operationsHaveNamesOfTheirOwnAndSayHowTheyEnd() {
    assertThat(operations())
        .isNotEmpty()
        .allSatisfy(
            operation -> {
              var answers = operation.get("responses");
              assertThat(BODILESS.stream().anyMatch(answers::has) || answers.has("200")).isTrue();
              assertThat(answers.has("default")).isTrue();
              answers
                  .properties()
                  .forEach(
                      answer -> {
                        assertThat(answer.getValue().path("description").asText()).isNotBlank();
                        assertThat(answer.getValue().path("content").isEmpty())
                            .isEqualTo(BODILESS.contains(answer.getKey()));
                        assertThat(answer.getValue().path("content"))
                            .allSatisfy(body -> assertThat(body.has("schema")).isTrue());
                      });
            });
    assertThat(operations().stream().map(operation -> operation.path("operationId").asText()))
        .doesNotHaveDuplicates()
        .contains("createChatCompletion", "createCompletion", "listModels", "retrieveModel")
        .allMatch(name -> name.matches("[a-z][A-Za-z]+"));
  }

  @Test
  void everyReferenceResolvesAndEverySchemaIsReferenced() {
    var used = new HashSet<String>();
    for (var reference : document.findValuesAsText("$ref")) {
      assertThat(reference).startsWith("#/components/schemas/");
      assertThat(document.at(reference.substring(1)).isObject()).as(reference).isTrue();
      used.add(reference.substring(reference.lastIndexOf('/') + 1));
    }
    var there = new HashSet<String>();
    document.at("/components/schemas").fieldNames().forEachRemaining(there::add);
    assertThat(used).isEqualTo(there);
  }

  @Test
  void variablesOfPathsAreDeclared() {
    for (var path : document.get("paths").properties()) {
      var variables =
          Pattern.compile("\\{(\\w+)}").matcher(path.getKey()).results().map(it -> it.group(1));
      var names = variables.toList();
      for (var operation : path.getValue()) {
        assertThat(operation.path("parameters"))
            .filteredOn(parameter -> parameter.path("in").asText().equals("path"))
            .as(path.getKey())
            .allMatch(parameter -> parameter.path("required").asBoolean())
            .extracting(parameter -> parameter.path("name").asText())
            .containsExactlyElementsOf(names);
      }
    }
  }

  /** Generated clients put the types of the document beside those of their language. */
  @Test
  void schemasHaveNamesThatClientsDoNotUseThemselves() {
    var names = new HashSet<String>();
    document.at("/components/schemas").fieldNames().forEachRemaining(names::add);
    assertThat(names).doesNotContain("Response", "Request", "Client", "Object", "String");
  }

  @Test
  void everyFailureOfTheApisHasItsSchema() throws Exception {
    for (var path : List.of("chat~1completions", "completions")) {
      var answers = document.at("/paths/~1v1~1" + path + "/post/responses");
      for (var status : List.of("400", "404", "413", "429", "500", "503", "529", "default")) {
        assertThat(answers.at("/" + status + "/content/application~1json/schema/$ref").asText())
            .as(status)
            .isEqualTo("#/components/schemas/Error");
      }
    }
    var error = new ObjectMapper().readTree(ApiError.modelNotFound("x").body());
    assertThat(fields("Error")).contains("error", "details");
    error.fieldNames().forEachRemaining(name -> assertThat(fields("Error")).contains(name));
  }
}
