package io.dynamo.frontend.openai;

import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.openai.wire.ChunkFormat.CompletedChoice;
import io.dynamo.frontend.openai.wire.LogprobsText;
import io.dynamo.frontend.openai.wire.MessageDelta;
import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Folds the choices of a request into a unary answer: the same texts and finish reasons. For one
 * thread.
 */
final class UnaryAnswer {
  private final List<FoldedChoice> folded = new ArrayList<>();
  private final @Nullable NvextText nvext;

  /** One text as it grows. */
  private static final class FoldedChoice {
    private final String opening; // joined to the text only when the answer is written
    private final StringBuilder text = new StringBuilder();
    private final @Nullable LogprobsText logprobs;
    private MessageDelta.@Nullable Builder message; // a message that was taken apart
    private boolean called;
    private @Nullable FinishReason finish;
    private double likelihood; // sum of logarithms
    private int rated; // tokens in that sum
    private int tokens;

    FoldedChoice(String opening, @Nullable LogprobsText logprobs) {
      this.opening = opening;
      this.logprobs = logprobs;
    }

    void add(ChoiceDelta delta) {
      append(delta);
      tokens += delta.tokens();
      finish = delta.finish();
      var item = delta.item();
      if (item != null && item.logprobs() != null) {
        rate(item, delta.tokens());
        if (logprobs != null) {
          logprobs.add(item.tokenIds(), delta.tokens(), item.logprobs());
        }
      }
    }

    private void append(ChoiceDelta delta) {
      var pieces = delta.pieces();
      if (pieces == null) {
        text.append(delta.text());
        return;
      }
      if (message == null) {
        message = new MessageDelta.Builder();
        message.add(new Piece.Content(opening + text));
      }
      pieces.forEach(message::add);
      called = delta.called();
    }

    CompletedChoice completed(int index) {
      return new CompletedChoice(
          index,
          opening,
          text.toString(),
          finish,
          logprobs,
          message == null ? null : message.build(called));
    }

    private void rate(EngineOutput item, int count) {
      var given = item.logprobs();
      var values = given == null ? null : given.tokens();
      for (int i = 0; values != null && i < Math.min(count, values.length); i++) {
        likelihood += values[i];
        rated++;
      }
    }

    /** The mean log probability per token, as OpenAI ranks texts. */
    double mean() {
      if (rated < tokens) {
        throw new EngineFailedException(
            ErrorCode.BACKEND_UNKNOWN,
            "the worker sent log probabilities of %d of %d tokens, and best_of needs all of them"
                .formatted(rated, tokens),
            null);
      }
      return tokens == 0 ? 0 : likelihood / tokens;
    }
  }

  /**
   * @param openings text before each choice's own
   * @param logprobs one for each choice, or none at all
   */
  UnaryAnswer(List<String> openings, List<LogprobsText> logprobs, @Nullable NvextText nvext) {
    for (int i = 0; i < openings.size(); i++) {
      folded.add(new FoldedChoice(openings.get(i), logprobs.isEmpty() ? null : logprobs.get(i)));
    }
    this.nvext = nvext;
  }

  /** Adds the content of a worker's item to its text. */
  void add(ChoiceDelta delta) {
    folded.get(delta.choice()).add(delta);
    if (nvext != null) {
      nvext.add(delta);
    }
  }

  /**
   * The choices that the client gets, numbered anew.
   *
   * @param made texts of each prompt
   * @param wanted how many of them are given: the likeliest
   */
  List<CompletedChoice> best(int made, int wanted) {
    var given = new ArrayList<CompletedChoice>();
    for (int from = 0; from < folded.size(); from += made) {
      var texts = folded.subList(from, from + made);
      if (wanted < made) {
        texts = new ArrayList<>(texts);
        texts.sort(Comparator.comparingDouble(FoldedChoice::mean).reversed());
      }
      for (var text : texts.subList(0, wanted)) {
        given.add(text.completed(given.size()));
      }
    }
    return given;
  }
}
