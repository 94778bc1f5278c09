package io.dynamo.frontend.openai.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.admission.JsonCost;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InnerJsonTest {
  private static final String INNER = "{\\\"a\\\":[{},{},{}]}";

  private static long added(String body) throws Exception {
    var cost = new JsonCost();
    InnerJson.addTo(cost, new ObjectMapper().readTree(body));
    return cost.keptBytes();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"messages\":[{\"tool_calls\":[{\"function\":{\"arguments\":\"%s\"}}]}]}",
        "{\"input\":[{\"type\":\"function_call\",\"arguments\":\"%s\"}]}",
      })
  void argumentsOfToolCallsAreFound(String body) throws Exception {
    assertThat(added(body.formatted(INNER))).isGreaterThan(4 * 320);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"messages\":[{\"content\":\"%s\"}]}",
        "{\"arguments\":{\"text\":\"%s\"}}",
        "[[\"%s\"]]"
      })
  void otherStringsStayText(String body) throws Exception {
    assertThat(added(body.formatted(INNER))).isZero();
  }
}
