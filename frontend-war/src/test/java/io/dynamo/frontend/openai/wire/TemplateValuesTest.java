package io.dynamo.frontend.openai.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import org.junit.jupiter.api.Test;

/**
 * The values that a chat template gets from a request, with the types and spelling that it prints.
 */
class TemplateValuesTest {
  private static ChatRequest read(String messages, String more) throws JsonProcessingException {
    return ChatRequestReader.read(
        JsonText.MAPPER.readTree("{\"model\":\"m\",\"messages\":" + messages + more + "}"));
  }

  @Test
  void callsOfTheHistoryHaveTheirFieldsInDynamosOrder() throws Exception {
    var request =
        read(
            """
            [{"role":"user","content":"hi"},
             {"tool_calls":[{"function":{"arguments":"{\\"b\\":1,\\"a\\":2}","name":"g"},
               "id":"call_1","type":"function"}],"role":"assistant"}]
            """,
            "");
    assertThat(request.messages().get(1).forTemplate().get("tool_calls"))
        .hasToString("[{id=call_1, type=function, function={name=g, arguments={b=1, a=2}}}]");
  }

  @Test
  void wholeNumbersBeyond64BitsAreFloats() throws Exception {
    var request =
        read(
            "[{\"role\":\"user\",\"content\":\"hi\"}]",
            """
            ,"tools":[{"type":"function","function":{"name":"g","parameters":{
              "a":12345678901234567890123,"b":18446744073709551615,"c":-9223372036854775809,
              "d":-9223372036854775808,"e":9007199254740993}}}]
            """);
    assertThat(request.tools().getFirst().get("function"))
        .hasToString(
            "{name=g, parameters={a=1.2345678901234568E22, b=18446744073709551615,"
                + " c=-9.223372036854776E18, d=-9223372036854775808, e=9007199254740993}}");
  }
}
