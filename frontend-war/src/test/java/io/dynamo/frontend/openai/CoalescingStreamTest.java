package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.frontend.Coalescing;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class CoalescingStreamTest {
  private static final Pattern CONTENT = Pattern.compile("\"content\":\"([^\"]*)\"");
  private static final Pattern LOGPROB = Pattern.compile("\"logprob\":(-?[0-9.]+)");
  private static final Pattern USAGE = Pattern.compile("\"usage\":\\{[^}]*}");
  private static final Coalescing HOUR =
      new Coalescing(Duration.ZERO, Map.of("script", Duration.ofHours(1)));

  private static String ask(Coalescing coalescing, List<EngineOutput> items, String fields) {
    try (var frontend = new FrontendFixture(coalescing)) {
      frontend.items = items;
      return frontend
          .post(
              "{\"model\":\"script\",\"stream\":true,\"stream_options\":{\"include_usage\":true}%s,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}"
                  .formatted(fields))
          .text();
    }
  }

  private static List<String> found(Pattern what, String text) {
    return what.matcher(text).results().map(match -> match.group(match.groupCount())).toList();
  }

  private static List<EngineOutput> letters(String text) {
    var items = new ArrayList<EngineOutput>();
    text.chars().forEach(letter -> items.add(EngineOutput.ofTokens(letter)));
    return items;
  }

  private static EngineOutput finish(int tokens) {
    return EngineOutput.finish(FinishReason.STOP, new Usage(5, tokens, null));
  }

  @Test
  void itemsThatArriveTogetherAreOneChunkWithTheSameTextAndUsage() {
    var items = letters("abcdefgh");
    items.add(finish(8));

    var plain = ask(Coalescing.NONE, items, "");
    var joined = ask(HOUR, items, "");

    assertThat(String.join("", found(CONTENT, joined)))
        .isEqualTo(String.join("", found(CONTENT, plain)))
        .isEqualTo("abcdefgh");
    assertThat(found(USAGE, joined)).isEqualTo(found(USAGE, plain)).isNotEmpty();
    assertThat(found(CONTENT, joined).size()).isLessThan(found(CONTENT, plain).size());
    assertThat(joined).contains("\"finish_reason\":\"stop\"").endsWith("data: [DONE]\n\n");
  }

  @Test
  void everyTokenKeepsItsLogProbability() {
    var items = new ArrayList<EngineOutput>();
    for (int i = 0; i < 4; i++) {
      items.add(
          new EngineOutput(
              new int[] {'a' + i},
              null,
              null,
              null,
              0,
              null,
              new Logprobs(null, new double[] {-i - 0.25}, List.of()),
              null,
              PassedOn.NONE));
    }
    items.add(finish(4));

    var joined = ask(HOUR, items, ",\"logprobs\":true");

    assertThat(found(LOGPROB, joined)) // each as the token's own and as the likeliest
        .containsExactly("-0.25", "-0.25", "-1.25", "-1.25", "-2.25", "-2.25", "-3.25", "-3.25");
    assertThat(found(LOGPROB, joined))
        .isEqualTo(found(LOGPROB, ask(Coalescing.NONE, items, ",\"logprobs\":true")));
  }

  @Test
  void aStopStringEndsTheTextWithinWhatIsJoined() {
    var items = letters("one two three");
    items.add(finish(13));

    var joined = ask(HOUR, items, ",\"stop\":[\" tw\"]");

    assertThat(String.join("", found(CONTENT, joined))).isEqualTo("one");
    assertThat(joined).contains("\"finish_reason\":\"stop\"").contains("\"completion_tokens\":6");
  }

  @Test
  void aFailureFollowsTheTextBeforeIt() {
    try (var frontend = new FrontendFixture(HOUR)) {
      frontend.items = letters("abc");
      frontend.failure = new EngineFailedException(ErrorCode.UNKNOWN, "it broke", null);

      var text =
          frontend
              .post(
                  "{\"model\":\"script\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}")
              .text();

      assertThat(String.join("", found(CONTENT, text))).isEqualTo("abc");
      assertThat(text).contains("\"error\"").endsWith("data: [DONE]\n\n");
    }
  }
}
