package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.frontend.openai.wire.KserveForm;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** KServe's JSON before the machinery that serves all requests. */
class KserveRestTest {
  private static final NamedModel MODEL = new NamedModel("script", "");
  private static final String TEXT =
      "{'name':'text_input','datatype':'BYTES','shape':[1],'data':['Hi']}";

  private final FrontendFixture frontend =
      new FrontendFixture(Duration.ofSeconds(30), FakeHangUps.unwatched(), 32 << 20);

  @BeforeEach
  void speak() {
    frontend.items =
        List.of(
            new EngineOutput(new int[1], "Hel", null, null, 0, null),
            new EngineOutput(new int[1], "lo", FinishReason.EOS, null, 0, null));
  }

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private FrontendFixture.Recorded infer(String body) {
    frontend.api = new KserveApi(new KserveForm.Rest(MODEL, null));
    return frontend.post(body.replace('\'', '"'));
  }

  private FrontendFixture.Recorded generate(String body, boolean stream) {
    frontend.api = new KserveApi(new KserveForm.Generate(MODEL, stream));
    return frontend.post(body.replace('\'', '"'));
  }

  @Test
  void aTextIsAnsweredAsTensors() {
    assertThat(infer("{'id':'x','inputs':[" + TEXT + "]}").text())
        .isEqualTo(
            "{\"model_name\":\"script\",\"model_version\":\"1\",\"id\":\"x\",\"outputs\":["
                + "{\"name\":\"text_output\",\"datatype\":\"BYTES\",\"shape\":[1],\"data\":[\"Hello\"]},"
                + "{\"name\":\"finish_reason\",\"datatype\":\"BYTES\",\"shape\":[1],\"data\":[\"stop\"]}]}");
  }

  @Test
  void contentsMayComeAndGoAsBytes() {
    var json =
        ("{'inputs':[{'name':'text_input','datatype':'BYTES','shape':[1],"
                + "'parameters':{'binary_data_size':6}}],'parameters':{'binary_data_output':true}}")
            .replace('\'', '"')
            .getBytes(StandardCharsets.UTF_8);
    var body = new ByteArrayOutputStream();
    body.writeBytes(json);
    body.writeBytes(new byte[] {2, 0, 0, 0, 'H', 'i'});
    frontend.api = new KserveApi(new KserveForm.Rest(MODEL, json.length));

    var answer =
        frontend.post(body.toByteArray(), Map.of("content-type", "application/octet-stream"));

    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    assertThat(frontend.encoded).isEqualTo("Hi");
    var bytes = ByteBuffer.wrap(answer.body.toByteArray());
    var head = new byte[bytes.getInt()];
    bytes.get(head);
    assertThat(new String(head, StandardCharsets.UTF_8))
        .contains(
            "\"name\":\"text_output\"", "{\"binary_data_size\":9}", "{\"binary_data_size\":8}");
    var rest = new byte[bytes.remaining()];
    bytes.get(rest);
    assertThat(rest)
        .containsExactly(5, 0, 0, 0, 'H', 'e', 'l', 'l', 'o', 4, 0, 0, 0, 's', 't', 'o', 'p');
  }

  @Test
  void wantedOutputsAreGivenAlone() {
    assertThat(infer("{'inputs':[" + TEXT + "],'outputs':[{'name':'text_output'}]}").text())
        .contains("text_output")
        .doesNotContain("finish_reason");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{'inputs':[],'x':1} | the field `x` is not known",
        "{'inputs':{}} | expected a list",
        "{'inputs':[{'name':'text_input','datatype':'BYTES','shape':[1]}]} | neither `data` nor",
        "{'inputs':[{'name':'text_input','datatype':'BYTES','shape':['1'],'data':['a']}]} | a whole"
            + " number",
        "{'inputs':[{'name':'text_input','datatype':'BYTES','shape':[1],'data':[1]}]} | a value of"
            + " BYTES",
        "{'inputs':[{'name':'text_input','datatype':'BYTES','shape':[1],'data':['a','b']}]} |"
            + " exactly one element",
        "{'inputs':[{'name':'text_input','datatype':'BYTES','shape':[1],'data':['a'],'parameters':{'binary_data_size':1}}]}"
            + " | one of the two",
        "{'inputs':[{'name':'text_input','datatype':'BYTES','shape':[1],'parameters':{'binary_data_size':1}}]}"
            + " | 0 bytes are left",
        "{'inputs':[{'name':'text_input','datatype':'BYTES','shape':[1],'data':['a']}],'parameters':{'stop':['a']}}"
            + " | a number, a string or a boolean",
        "{'inputs':[{'name':'text_input','datatype':'BYTES','shape':[1],'data':['a']}],'parameters':{'zz':1}}"
            + " | `zz` is not known",
        "{'inputs':[{'name':'text_input','datatype':'BYTES','shape':[1],'data':['a']},{'name':'stream','datatype':'BOOL','shape':[1],'data':[true]}]}"
            + " | Streaming is not supported",
      })
  void malformedRequestsAreRefused(String body, String words) {
    var answer = infer(body);

    assertThat(answer.status).as(answer.text()).isEqualTo(400);
    assertThat(String.valueOf(answer.error)).contains(words);
  }

  @Test
  void bytesThatBelongToNoInputAreRefused() {
    var json = ("{'inputs':[" + TEXT + "]}").replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    frontend.api = new KserveApi(new KserveForm.Rest(MODEL, json.length - 1));

    assertThat(frontend.post(json, Map.of()).status).isEqualTo(400);

    frontend.api = new KserveApi(new KserveForm.Rest(MODEL, json.length + 1));
    assertThat(frontend.post(json, Map.of()).status).isEqualTo(400);
  }

  @Test
  void nestingIsBounded() {
    var deep = "[".repeat(150) + "]".repeat(150);

    assertThat(
            infer(
                    "{'inputs':[{'name':'text_input','datatype':'BYTES','shape':[1],'data':"
                        + deep
                        + "}]}")
                .status)
        .isEqualTo(400);
  }

  @Test
  void otherContentTypesAreRefused() {
    frontend.api = new KserveApi(new KserveForm.Rest(MODEL, null));

    assertThat(
            frontend.post(new byte[2], Map.of("content-type", "application/octet-stream")).status)
        .isEqualTo(415);
  }

  @Test
  void tritonsRouteForTextsAnswersWhole() {
    assertThat(generate("{'text_input':'Hi','max_tokens':5,'parameters':{'seed':1}}", false).text())
        .isEqualTo(
            "{\"model_name\":\"script\",\"model_version\":\"1\",\"text_output\":\"Hello\",\"finish_reason\":\"stop\"}");

    assertThat(Objects.requireNonNull(frontend.asked).stop().maxTokens()).isEqualTo(5);
    assertThat(frontend.asked.sampling().seed()).isEqualTo(1);
  }

  @Test
  void tritonsRouteForTextsStreams() {
    var answer = generate("{'id':'x','text_input':'Hi','stream':true}", true);

    assertThat(answer.events).isTrue();
    assertThat(answer.text().replace(": \n\n", ""))
        .isEqualTo(
            "data:"
                + " {\"model_name\":\"script\",\"model_version\":\"1\",\"id\":\"x\",\"text_output\":\"Hel\",\"finish_reason\":\"\"}\n\n"
                + "data:"
                + " {\"model_name\":\"script\",\"model_version\":\"1\",\"id\":\"x\",\"text_output\":\"lo\",\"finish_reason\":\"stop\"}\n\n");
  }

  @Test
  void aRouteHasOneFormOfAnswer() {
    assertThat(generate("{'text_input':'Hi','stream':true}", false).status).isEqualTo(400);
    assertThat(generate("{'text_input':'Hi','stream':false}", true).status).isEqualTo(400);
    assertThat(generate("{'text_input':7}", false).status).isEqualTo(400);
  }
}
