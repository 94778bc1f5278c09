package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Chats whose prompt the client has tokenised. */
final class RawPromptTest {
  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.close();
  }

  @Test
  void rawTokensArePromptsWithoutTheTemplate() {
    assertThat(answer("\"token_data\":[65,66],")).contains("event: formatted_prompt", "[65,66]");

    assertThat(answer("\"token_data\":[65,66],\"use_raw_prompt\":true,"))
        .doesNotContain("event: formatted_prompt")
        .contains("[65,66]");
    assertThat(Objects.requireNonNull(frontend.asked).tokenIds()).containsExactly(65, 66);
  }

  @Test
  void chatsWithoutTokensAreRendered() {
    var rendered = answer("");
    assertThat(rendered).contains("event: formatted_prompt");
    var prompt = Objects.requireNonNull(frontend.asked).tokenIds();

    assertThat(answer("\"use_raw_prompt\":true,")).contains("event: formatted_prompt");
    assertThat(Objects.requireNonNull(frontend.asked).tokenIds()).containsExactly(prompt);
  }

  private String answer(String extension) {
    frontend.scripts =
        List.of(List.of(new EngineOutput(new int[] {'x'}, null, FinishReason.STOP, null, 0, null)));
    var body =
        """
        {"model":"script","messages":[{"role":"user","content":"hi"}],"stream":true,
         "nvext":{%s"annotations":["formatted_prompt","token_ids"]}}\
        """
            .formatted(extension);
    var answer = frontend.post(body);
    assertThat(answer.status).isEqualTo(200);
    return answer.text();
  }
}
