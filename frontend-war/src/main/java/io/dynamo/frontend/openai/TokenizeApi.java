package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.openai.wire.TokenizeRequest;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The tokens of texts and of conversations, as a generation would see them. */
final class TokenizeApi implements Api {
  private static final int MAX_TOKENS = 1 << 20;
  private static final int HEAP_PER_TOKEN = 32; // its number in JSON, growing and whole
  private static final int HEAP_PER_BYTE = 16; // of its text, in JSON, which may be escaped

  @Override
  public String endpoint() {
    return "tokenize";
  }

  @Override
  public Set<String> modelTypes() {
    return Set.of();
  }

  @Override
  public String promptField() {
    return "prompt";
  }

  @Override
  public boolean asksForPromptOnly() {
    return true;
  }

  @Override
  public String modelIfOmitted(List<String> able) {
    return OmittedModel.only(able);
  }

  @Override
  public boolean knows(String field) {
    return TokenizeRequest.knows(field);
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    return new Parsed(TokenizeRequest.read(body), 0);
  }

  private record Parsed(TokenizeRequest request, int contextTokens) implements ParsedRequest {
    @Override
    public GenerationFields fields() {
      return request.fields();
    }

    @Override
    public ParsedRequest with(GenerationFields fields) {
      return new Parsed(
          new TokenizeRequest(fields, request.text(), request.chat(), request.strings()),
          contextTokens);
    }

    @Override
    public ParsedRequest forModel(ModelCard card) {
      return new Parsed(request, card.contextLength());
    }

    @Override
    public List<PreparedPrompt> prepare(ModelText model, boolean hideTools) {
      var chat = request.chat();
      if (chat != null) {
        ChatDialect none =
            (_, _, _, _) -> {
              throw new IllegalStateException("nothing is generated");
            };
        return new ParsedChat(chat, none).prepare(model, hideTools);
      }
      var text = Objects.requireNonNull(request.text()).replace("\0", "");
      return List.of(new PreparedPrompt(model.encode(text), text, false));
    }

    @Override
    public long promptAnswerBytes(ModelText model, List<PreparedPrompt> prompts) {
      var tokens = prompts.getFirst().tokens();
      if (tokens.length > MAX_TOKENS) {
        throw new ApiException(
            new ApiError(
                400,
                "the text has %d tokens, at most %d are listed"
                    .formatted(tokens.length, MAX_TOKENS),
                "too_many_tokens",
                "prompt",
                null));
      }
      long bytes = (long) HEAP_PER_TOKEN * tokens.length;
      if (request.strings()) {
        for (int token : tokens) {
          bytes += (long) HEAP_PER_BYTE * model.tokens().bytes(token).length;
        }
      }
      return bytes;
    }

    @Override
    public byte @Nullable [] promptAnswer(ModelText model, List<PreparedPrompt> prompts) {
      var tokens = prompts.getFirst().tokens();
      return request.answer(tokens, contextTokens, model.tokens()::bytes);
    }

    @Override
    public AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      throw new IllegalStateException("nothing is generated");
    }
  }
}
