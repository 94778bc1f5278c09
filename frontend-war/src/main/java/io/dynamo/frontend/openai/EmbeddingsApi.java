package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.EmbeddingsRequest;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.model.ModelCard;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Embeddings: prompts in, vectors out. */
final class EmbeddingsApi implements Api {
  @Override
  public String endpoint() {
    return "embeddings";
  }

  @Override
  public Set<String> modelTypes() {
    return Set.of("Embedding");
  }

  @Override
  public String promptField() {
    return "input";
  }

  @Override
  public boolean knows(String field) {
    return EmbeddingsRequest.names().contains(field);
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    return new Parsed(EmbeddingsRequest.read(body), 0);
  }

  /**
   * @param contextTokens of the model; 0 when unknown
   */
  private record Parsed(EmbeddingsRequest request, int contextTokens) implements ParsedRequest {
    @Override
    public GenerationFields fields() {
      return request.fields();
    }

    @Override
    public ParsedRequest with(GenerationFields fields) {
      return new Parsed(
          new EmbeddingsRequest(
              fields,
              request.inputs(),
              request.base64(),
              request.dimensions(),
              request.truncateTo()),
          contextTokens);
    }

    @Override
    public ParsedRequest forModel(ModelCard card) {
      return new Parsed(request, card.contextLength());
    }

    @Override
    public List<PreparedPrompt> prepare(ModelText model, boolean hideTools) {
      var prompts = new ArrayList<PreparedPrompt>(request.inputs().size());
      for (var input : request.inputs()) {
        var tokens = input.tokens();
        if (tokens == null) {
          tokens = model.encode(Objects.requireNonNull(input.text()).replace("\0", ""));
        }
        prompts.add(new PreparedPrompt(cut(tokens), null, false));
      }
      return prompts;
    }

    private int[] cut(int[] tokens) {
      var wanted = request.truncateTo();
      int most =
          wanted == null
              ? Integer.MAX_VALUE
              : wanted > 0 ? wanted : contextTokens > 1 ? contextTokens - 1 : Integer.MAX_VALUE;
      return tokens.length > most ? Arrays.copyOf(tokens, most) : tokens;
    }

    @Override
    public EmbeddingWish embeddings(
        String model, @Nullable String cardChecksum, List<PreparedPrompt> prompts) {
      return new EmbeddingWish(
          new EmbeddingRequest(
              model,
              prompts.stream().map(PreparedPrompt::tokens).toList(),
              request.base64(),
              request.dimensions(),
              request.truncateTo(),
              cardChecksum,
              fields().nvext().annotations()),
          request.base64());
    }

    @Override
    public AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      throw new IllegalStateException("no text is generated");
    }
  }
}
