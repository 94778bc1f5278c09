package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.DetokenizeRequest;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.vocabulary.TokenTable;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The text of tokens. */
final class DetokenizeApi implements Api {
  private static final int MAX_BYTES = 16 << 20; // of text: one id may stand for many characters
  private static final int HEAP_PER_BYTE = 16; // the text twice, and its JSON, which may be escaped

  @Override
  public String endpoint() {
    return "detokenize";
  }

  @Override
  public Set<String> modelTypes() {
    return Set.of();
  }

  @Override
  public String promptField() {
    return "tokens";
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
    return DetokenizeRequest.names().contains(field);
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    return new Parsed(DetokenizeRequest.read(body));
  }

  private record Parsed(DetokenizeRequest request) implements ParsedRequest {
    @Override
    public GenerationFields fields() {
      return request.fields();
    }

    @Override
    public ParsedRequest with(GenerationFields fields) {
      return new Parsed(new DetokenizeRequest(fields, request.tokens()));
    }

    @Override
    public List<PreparedPrompt> prepare(ModelText model, boolean hideTools) {
      return List.of(new PreparedPrompt(request.tokens(), null, false));
    }

    @Override
    public long promptAnswerBytes(ModelText model, List<PreparedPrompt> prompts) {
      return (long) HEAP_PER_BYTE * length(request.tokens(), model.tokens());
    }

    @Override
    public byte @Nullable [] promptAnswer(ModelText model, List<PreparedPrompt> prompts) {
      return DetokenizeRequest.answer(text(request.tokens(), model.tokens()));
    }

    /**
     * Returns the bytes of the text; refuses ids that are no tokens, and a text that is too long.
     */
    private static int length(int[] ids, TokenTable vocabulary) {
      int length = 0;
      for (int i = 0; i < ids.length; i++) {
        if (Integer.compareUnsigned(ids[i], vocabulary.size()) >= 0) {
          throw refusal(
              "tokens[%d] is %s, and the vocabulary has %d tokens"
                  .formatted(i, Integer.toUnsignedString(ids[i]), vocabulary.size()),
              "invalid_token_id");
        }
        length += vocabulary.bytes(ids[i]).length;
        if (length > MAX_BYTES) {
          throw refusal(
              "the text would be longer than %d bytes".formatted(MAX_BYTES), "text_too_long");
        }
      }
      return length;
    }

    private static String text(int[] ids, TokenTable vocabulary) {
      var bytes = new ByteArrayOutputStream(Math.min(MAX_BYTES, 4 * ids.length));
      for (int i = 0; i < ids.length; i++) {
        bytes.writeBytes(i == 0 ? vocabulary.firstBytes(ids[i]) : vocabulary.bytes(ids[i]));
      }
      return bytes.toString(StandardCharsets.UTF_8);
    }

    private static ApiException refusal(String message, String code) {
      return new ApiException(new ApiError(400, message, code, "tokens", null));
    }

    @Override
    public AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      throw new IllegalStateException("nothing is generated");
    }
  }
}
