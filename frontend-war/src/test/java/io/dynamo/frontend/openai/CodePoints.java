package io.dynamo.frontend.openai;

import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.PromptText;
import io.dynamo.frontend.preprocess.bpe.TooManyTokensException;
import io.dynamo.model.vocabulary.TokenTable;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Token ids are Unicode code points here. */
final class CodePoints implements ModelText, TokenTable {
  /** Some tokens of the captures' own tokenizer; S, t and ESP have ids that nobody saw. */
  private static final Map<Integer, String> TINY =
      Map.of(44, "H", 77, "i", 2607, " there", 5001, "S", 5002, "t", 5003, "ESP");

  /** The id of a token of the captures' tokenizer. */
  static int tokenOfTiny(String text) {
    return TINY.entrySet().stream()
        .filter(it -> it.getValue().equals(text))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no such token: " + text))
        .getKey();
  }

  private final FrontendFixture fixture;

  CodePoints(FrontendFixture fixture) {
    this.fixture = fixture;
  }

  @Override
  public PromptText render(ChatPrompt prompt) {
    fixture.prompt = prompt;
    fixture.whileRendering.run();
    if (fixture.interrupts) {
      fixture.server.interrupt();
      try {
        if (!fixture.renderEnds.await(10, TimeUnit.SECONDS)) {
          throw new AssertionError("the interrupted request was not answered");
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    if (fixture.templateFault != null) {
      throw fixture.templateFault;
    }
    var text = new StringBuilder();
    for (var message : prompt.messages()) {
      text.append("<|im_start|>").append(message.get("role")).append('\n');
      text.append(message.get("content")).append("<|im_end|>\n");
    }
    if (!Boolean.FALSE.equals(prompt.templateArgs().get("add_generation_prompt"))) {
      text.append("<|im_start|>assistant\n");
    }
    return PromptText.whole(text.toString());
  }

  @Override
  public int[] encode(PromptText prompt, int maxTokens) {
    fixture.encoded = prompt.text();
    if (fixture.tokenizerFault != null) {
      throw fixture.tokenizerFault;
    }
    if (fixture.promptTokens > maxTokens) {
      throw new TooManyTokensException(maxTokens);
    }
    return fixture.promptIds == null ? new int[fixture.promptTokens] : fixture.promptIds;
  }

  @Override
  public int maxTokenChars() {
    return fixture.maxTokenChars;
  }

  @Override
  public TokenTable tokens() {
    return fixture.table == null ? this : fixture.table;
  }

  @Override
  public int[] eosTokenIds() {
    return new int[] {3};
  }

  @Override
  public void close() {}

  @Override
  public int size() {
    return Character.MAX_CODE_POINT + 1;
  }

  @Override
  public byte[] bytes(int id) {
    var text = fixture.tinyTokens ? TINY.get(id) : null;
    return (text == null ? Character.toString(id).repeat(fixture.tokenCopies) : text)
        .getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public boolean isSpecial(int id) {
    return id == 3;
  }
}
