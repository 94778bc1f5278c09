package io.dynamo.frontend.preprocess;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.frontend.preprocess.PromptMessages.Content;
import io.dynamo.frontend.preprocess.jinja.JinjaException;
import io.dynamo.frontend.preprocess.jinja.JinjaTemplate;
import java.time.Clock;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A model's chat template and the form of messages that it expects. Immutable, safe for concurrent
 * use.
 */
final class ChatTemplate implements PromptFormat {
  private static final JinjaTemplate.Limits LIMITS =
      new JinjaTemplate.Limits(Clock.system(ZoneId.systemDefault()), MAX_CHARS, MAX_TIME);
  private static final String PROBE = "6f1c0a47";

  private final JinjaTemplate plain;
  private final JinjaTemplate withTools;
  private final Map<String, String> specialTokens;
  private final PromptMessages messages;

  /**
   * @param plain the source for prompts without tools
   * @param withTools the source for prompts with tools
   * @param specialTokens {@code bos_token} and its like, as far as the model has them
   * @throws IllegalArgumentException when a template does not compile
   */
  ChatTemplate(String plain, String withTools, Map<String, String> specialTokens) {
    this.plain = compile(plain);
    this.withTools = plain.equals(withTools) ? this.plain : compile(withTools);
    this.specialTokens = Map.copyOf(specialTokens);
    var sources = plain + withTools;
    this.messages =
        new PromptMessages(
            takes(),
            !PromptMessages.readsArgumentText(sources),
            PromptMessages.readsReasoning(sources));
  }

  @Override
  public PromptText render(ChatPrompt prompt) {
    try {
      return PromptText.whole(
          render(
              messages.of(prompt.messages()),
              PromptMessages.tools(prompt.tools()),
              prompt.templateArgs()));
    } catch (JinjaException e) {
      throw new InvalidRequestException(String.valueOf(e.getMessage()));
    }
  }

  private String render(List<?> messages, List<?> tools, Map<String, ?> templateArgs) {
    var values = new HashMap<String, @Nullable Object>(specialTokens);
    values.put("messages", messages);
    values.put("tools", tools.isEmpty() ? null : tools);
    values.put("documents", null);
    values.put("add_generation_prompt", true);
    values.putAll(templateArgs);
    return (tools.isEmpty() ? plain : withTools).render(values, LIMITS);
  }

  /**
   * Tests the template with an example; one that prints parts as they are does not accept parts.
   */
  private Content takes() {
    var text = Map.of("type", "text", "text", PROBE);
    boolean takesParts = rendersProbe(List.of(Map.of("type", "image"), text));
    if (!rendersProbe(PROBE) && (takesParts || rendersProbe(List.of(text)))) {
      return Content.PARTS;
    }
    return takesParts ? Content.TEXT_OR_PARTS : Content.TEXT;
  }

  private boolean rendersProbe(Object content) {
    try {
      var message = Map.of("role", "user", "content", content);
      var rendered = render(List.of(message), List.of(), Map.of());
      return rendered.contains(PROBE)
          && !rendered.contains("'" + PROBE)
          && !rendered.contains("\"" + PROBE);
    } catch (JinjaException e) {
      return false;
    }
  }

  private static JinjaTemplate compile(String source) {
    try {
      return JinjaTemplate.compile(source);
    } catch (JinjaException e) {
      throw new IllegalArgumentException("the chat template is not usable: " + e.getMessage(), e);
    }
  }
}
