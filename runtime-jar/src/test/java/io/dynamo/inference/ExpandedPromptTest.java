package io.dynamo.inference;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExpandedPromptTest {
  private static final GenerateRequest PLAIN =
      new GenerateRequest(
          "m",
          new int[] {1, 9, 2},
          new StopConditions(10, List.of(), List.of(), null, false),
          SamplingOptions.DEFAULTS,
          OutputOptions.DEFAULTS,
          new int[0],
          null,
          List.of(),
          RoutingHints.NONE,
          Map.of());

  private static GenerateRequest with(Object info) {
    return PLAIN.passing(ExpandedPrompt.FIELD, info);
  }

  @Test
  void promptsWithoutImagesAreTheirTokens() {
    assertThat(ExpandedPrompt.tokensOf(PLAIN)).containsExactly(1, 9, 2);
  }

  @Test
  void writtenFieldsAreRead() {
    var expanded = new ExpandedPrompt(new int[] {1, 7, 7, 7, 2});

    assertThat(ExpandedPrompt.tokensOf(with(expanded.toField(4)))).containsExactly(1, 7, 7, 7, 2);
    assertThat(expanded.toField(4))
        .containsEntry("routing_token_ids", new int[] {1, 7, 7, 7, 2, 0, 0, 0})
        .containsEntry("block_mm_infos", List.of())
        .containsEntry("expanded_prompt_len", 5);
  }

  @Test
  void listsOfNumbersAreReadAsTheWireGivesThem() {
    assertThat(
            ExpandedPrompt.tokensOf(
                with(
                    Map.of(
                        "routing_token_ids",
                        List.of(1, 7L, 7L, 0),
                        "block_mm_infos",
                        List.of(),
                        "expanded_prompt_len",
                        3L))))
        .containsExactly(1, 7, 7);
  }

  @Test
  void otherFormsLeaveThePromptAsItIs() {
    for (var info :
        List.of(
            "text",
            Map.of(),
            Map.of("routing_token_ids", List.of()),
            Map.of("routing_token_ids", List.of("a")),
            Map.of("routing_token_ids", Collections.nCopies((1 << 20) + 1, 1)),
            Map.of(
                "routing_token_ids",
                List.of(1, 2),
                "block_mm_infos",
                Arrays.asList(Map.of("mm_objects", List.of()), null)))) {
      assertThat(ExpandedPrompt.tokensOf(with(info))).containsExactly(1, 9, 2);
    }
  }

  @Test
  void continuationsKeepTheImages() {
    var moved =
        with(new ExpandedPrompt(new int[] {1, 7, 7, 7, 2}).toField(16))
            .continuedBy(new int[] {5, 6});

    assertThat(moved.tokenIds()).containsExactly(1, 9, 2, 5, 6);
    assertThat(ExpandedPrompt.tokensOf(moved)).containsExactly(1, 7, 7, 7, 2, 5, 6);
  }
}
