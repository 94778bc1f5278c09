package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.openai.wire.ChatRequestReader;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * JSON inside of strings and maps, such as arguments of tool calls, is parsed with the bounds of
 * the body.
 */
class ClientTextTest {
  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\\\"x\\\":1e999}",
        "{\\\"x\\\":[-1e999]}",
        "{\\\"x\\\":\\\"\\\\ud800\\\"}",
        "{\\\"\\\\udc00\\\":1}",
        "{\\\"x\\\":1,\\\"x\\\":2}",
        "{} {}"
      })
  void argumentsOfToolCallsAreParsedWithTheBoundsOfTheBody(String arguments) {
    var answer =
        frontend.post(
            """
            {"model":"script","messages":[{"role":"user","content":"a"},{"role":"assistant",
            "content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f",
            "arguments":"%s"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}
            """
                .formatted(arguments));
    assertThat(answer.status).as(answer.text()).isEqualTo(400);
    assertThat(answer.text())
        .contains("`messages[1].tool_calls[0].function.arguments` must be a valid JSON object");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"chat_template_args\":{\"messages\":[]}",
        "\"chat_template_kwargs\":{\"tools\":[]}",
        "\"chat_template_args\":{\"messages\":null}"
      })
  void templateArgumentsDoNotReplaceFieldsOfTheRequest(String args) {
    var answer =
        frontend.post(
            "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],%s}"
                .formatted(args));
    assertThat(answer.status).as(answer.text()).isEqualTo(400);
    assertThat(answer.text())
        .contains("\"param\":\"chat_template_args\"")
        .contains("is not supported inside `chat_template_args`");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"file:///etc/passwd", "FILE:/etc/passwd", "ftp://host/a.png", "s3://bucket/a"})
  void mediaOfOtherSchemesThanTheWebsAreRefused(String url) {
    for (var type : List.of("image_url", "video_url", "audio_url")) {
      var answer = postMedia(type, url);
      assertThat(answer.status).as(answer.text()).isEqualTo(400);
      assertThat(answer.text()).contains(type + ".url").contains("`http`, `https` or `data`");
    }
  }

  @Test
  void mediaOfTheWebReachTheWorker() {
    frontend.items = List.of(new EngineOutput(new int[1], "a", FinishReason.EOS, null, 0, null));
    for (var url : List.of("https://host/a.png", "HTTP://host/a", "data:image/png;base64,AAAA")) {
      var answer = postMedia("image_url", url);
      assertThat(answer.status).as(answer.text()).isEqualTo(200);
      assertThat(Objects.requireNonNull(frontend.prompt).messages()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"file:///tmp/x", "/tmp/x", "gopher://host/"})
  void metadataGoesToTheWebAlone(String url) {
    var answer =
        frontend.post(
            "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"nvext\":{\"metadata_upload\":{\"url\":\"%s\"}}}"
                .formatted(url));
    assertThat(answer.status).as(answer.text()).isEqualTo(400);
    assertThat(answer.text()).contains("metadata_upload.url");
  }

  /** The server admits 64 requests. */
  @Test
  void eachTextNeedsAPlaceOfItsOwn() {
    var others = new ArrayList<RequestAccount>();
    for (int i = 0; i < 60; i++) {
      others.add(frontend.admission.admit("chat_completions"));
    }
    var answer =
        frontend.post(
            "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"n\":5}");
    assertThat(answer.status).as(answer.text()).isEqualTo(503);
    others.forEach(account -> account.end(null));
    assertThat(frontend.admission.admitted()).isZero();
  }

  @Test
  void guidedChoicesAreBounded() {
    var body =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"guided_choice\":[%s\"a\"]}"
            .formatted("\"a\",".repeat(1024));
    assertThatThrownBy(
            () -> ChatRequestReader.read(JsonBody.parse(body.getBytes(StandardCharsets.UTF_8))))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("1025 choices, at most 1024");
  }

  private FrontendFixture.Recorded postMedia(String type, String url) {
    return frontend.post(
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"%1$s\",\"%1$s\":{\"url\":\"%2$s\"}}]}]}"
            .formatted(type, url));
  }
}
