package io.dynamo.frontend.openai;

import io.dynamo.frontend.media.MediaPart;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.ChatMessage;
import io.dynamo.frontend.openai.wire.ChatRequest;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.openai.wire.Nvext;
import io.dynamo.frontend.postprocess.MessageOptions;
import io.dynamo.frontend.postprocess.tools.ToolChoice;
import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.PromptText;
import io.dynamo.model.ModelCard;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A checked conversation, whichever API it came by: its prompt is made by the model's template.
 *
 * @param dialect of that API
 */
record ParsedChat(ChatRequest request, ChatDialect dialect) implements Api.ParsedRequest {
  @Override
  public GenerationFields fields() {
    return request.fields();
  }

  @Override
  public Api.ParsedRequest with(GenerationFields fields) {
    return of(
        new ChatRequest(
            fields,
            request.messages(),
            request.tools(),
            request.toolChoice(),
            request.parallelCalls(),
            request.templateArgs(),
            request.addGenerationPrompt(),
            request.continueFinal(),
            request.media(),
            request.parts(),
            request.responseFormat()));
  }

  @Override
  public Map<String, Object> templateArgs() {
    return request.templateArgs();
  }

  @Override
  public List<PreparedPrompt> prepare(ModelText model, boolean hideTools) {
    var nvext = fields().nvext();
    var given = nvext.tokens();
    if (given != null && nvext.rawPrompt()) {
      return List.of(new PreparedPrompt(given, null, false));
    }
    var prompt = rendered(model, hideTools);
    return List.of(
        new PreparedPrompt(given == null ? model.encode(prompt) : given, prompt.text(), true));
  }

  private PromptText rendered(ModelText model, boolean hideTools) {
    Map<String, Object> args = request.templateArgs();
    if (!request.addGenerationPrompt()) {
      args = new LinkedHashMap<>(args);
      args.put("add_generation_prompt", false);
    }
    var prompt =
        model.render(
            new ChatPrompt(
                request.messages().stream().map(ChatMessage::forTemplate).toList(),
                hideTools && request.toolChoice() instanceof ToolChoice.None
                    ? List.of()
                    : request.tools(),
                args,
                request.responseFormat(),
                toolChoice()));
    return (request.continueFinal() ? open(prompt) : prompt).withoutNul();
  }

  private @Nullable String toolChoice() {
    return switch (request.toolChoice()) {
      case ToolChoice.Required _ -> "required";
      case ToolChoice.None _ -> "none";
      case ToolChoice.Auto _ -> "auto";
      case ToolChoice.Named _ -> null;
    };
  }

  /** Cuts off the text that the template wrote after the final message. */
  private PromptText open(PromptText prompt) {
    if (prompt.contentEnd() >= 0) {
      var kept = prompt.text().substring(0, prompt.contentEnd());
      return prompt.first(kept.stripTrailing().length());
    }
    var content = request.messages().getLast().content();
    var last = content instanceof List<?> parts && parts.isEmpty() ? "[]" : content;
    if (last instanceof String text && !text.isBlank()) {
      int at = prompt.text().lastIndexOf(text.strip());
      if (at >= 0) {
        return prompt.first(at + text.strip().length());
      }
    }
    return prompt.first(prompt.text().stripTrailing().length());
  }

  @Override
  public Map<String, Object> extraArgs(PreparedPrompt prompt) {
    var messages = request.media().get("messages");
    if (messages == null) {
      return Map.of();
    }
    var text = prompt.text();
    return text == null
        ? Map.of("messages", messages)
        : Map.of("messages", messages, "formatted_prompt", text);
  }

  @Override
  public Map<String, Object> passedOn() {
    var passed = new LinkedHashMap<>(request.media().fields());
    passed.remove("messages");
    return passed;
  }

  @Override
  public List<MediaPart> media() {
    return request.parts();
  }

  @Override
  public String trigger() {
    return switch (request.messages().getLast().role()) {
      case "user" -> "user_message";
      case "tool", "function" -> "tool_result";
      default -> "other";
    };
  }

  @Override
  public MessageOptions message() {
    return new MessageOptions(
        request.tools(),
        request.toolChoice(),
        request.parallelCalls(),
        request.templateArgs(),
        isGuidedToJson());
  }

  private boolean isGuidedToJson() {
    var guided = fields().sampling().guided();
    return guided != null && guided.structuralTag() == null;
  }

  @Override
  public AnswerFormat answerFormat(
      String requestId, long createdSeconds, String model, String reasoningField) {
    return dialect.answerFormat(requestId, createdSeconds, model, reasoningField);
  }

  @Override
  public AnswerFormat recordFormat(
      String requestId, long createdSeconds, String model, String reasoningField) {
    return dialect.recordFormat(requestId, createdSeconds, model, reasoningField);
  }

  /** The conversation once the model has said {@code answer}, for a prompt that is left open. */
  ParsedChat answered(ChatMessage answer) {
    var messages = new ArrayList<>(request.messages());
    messages.add(answer);
    return of(
        new ChatRequest(
            fields().with(Nvext.NONE),
            messages,
            request.tools(),
            request.toolChoice(),
            request.parallelCalls(),
            request.templateArgs(),
            false,
            false,
            request.media(),
            request.parts(),
            request.responseFormat()));
  }

  private ParsedChat of(ChatRequest other) {
    return new ParsedChat(other, dialect);
  }

  @Override
  public Api.ParsedRequest forModel(ModelCard card) {
    return of(dialect.forModel(request, card));
  }

  @Override
  public byte @Nullable [] promptAnswer(ModelText model, List<PreparedPrompt> prompts) {
    return dialect.promptAnswer(model, prompts);
  }
}
