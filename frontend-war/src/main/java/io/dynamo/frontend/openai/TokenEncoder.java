package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.openai.wire.LogprobsText;
import io.dynamo.frontend.openai.wire.StreamOptions;
import io.dynamo.frontend.openai.wire.TokenFormat;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.frontend.sse.FrameEncoder;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.StopReason;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns the items of a request's texts into an answer of token ids. For one thread. */
final class TokenEncoder implements FrameEncoder<ChoiceDelta> {
  private final TokenFormat format;
  private final Choices choices;
  private final StreamOptions options;
  private final List<LogprobsText> logprobs; // of each choice; empty when none were asked for
  private final ByteText ids = new ByteText(64); // of the delta at work

  /**
   * @param choices whose deltas are encoded; asked for the usage
   * @param logprobs one for each choice, or none at all
   */
  TokenEncoder(
      TokenFormat format, Choices choices, StreamOptions options, List<LogprobsText> logprobs) {
    this.format = format;
    this.choices = choices;
    this.options = options;
    this.logprobs = logprobs;
  }

  /** One choice as it grows. */
  private static final class ChoiceResult {
    private final ByteText ids = new ByteText(256);
    private final StringBuilder text = new StringBuilder();
    private @Nullable FinishReason finish;
    private @Nullable StopReason stop;
    private PassedOn engine = PassedOn.NONE;

    void add(ChoiceDelta delta) {
      appendIds(delta, ids);
      text.append(delta.text());
      if (delta.finish() != null) {
        finish = delta.finish();
        stop = delta.stop();
      }
      var item = delta.item();
      if (item != null && !item.passedOn().isEmpty()) {
        engine = item.passedOn();
      }
    }
  }

  /**
   * Gathers the whole answer, in the place of a stream's events.
   *
   * @param texts their number
   */
  WholeAnswer whole(int texts) {
    var results = new ArrayList<ChoiceResult>();
    for (int i = 0; i < texts; i++) {
      results.add(new ChoiceResult());
    }
    return new WholeAnswer() {
      @Override
      public void add(ChoiceDelta delta) {
        results.get(delta.choice()).add(delta);
        addLogprobs(delta);
      }

      @Override
      public byte[] write() {
        return format.whole(parts(results), choices.usage());
      }
    };
  }

  private List<TokenFormat.Part> parts(List<ChoiceResult> results) {
    var parts = new ArrayList<TokenFormat.Part>();
    for (int i = 0; i < results.size(); i++) {
      var one = results.get(i);
      parts.add(
          new TokenFormat.Part(
              i,
              one.ids,
              one.text.toString(),
              one.finish,
              one.stop,
              logprobs.isEmpty() ? null : logprobs.get(i),
              one.engine));
    }
    return parts;
  }

  private static void appendIds(ChoiceDelta delta, ByteText to) {
    var item = delta.item();
    for (int i = 0; item != null && i < delta.tokens(); i++) {
      to.ascii(to.size() == 0 ? "" : ",").number(Integer.toUnsignedLong(item.tokenIds()[i]));
    }
  }

  private @Nullable LogprobsText addLogprobs(ChoiceDelta delta) {
    if (logprobs.isEmpty()) {
      return null;
    }
    var own = logprobs.get(delta.choice());
    var item = delta.item();
    if (item != null && item.logprobs() != null) {
      own.add(item.tokenIds(), delta.tokens(), item.logprobs());
    }
    return own;
  }

  @Override
  public void item(ChoiceDelta delta, ByteText frames) {
    var item = delta.item();
    if (item != null && item.annotation() != null) {
      return; // these APIs have no such events
    }
    var engine = item == null ? PassedOn.NONE : item.passedOn();
    if (delta.tokens() == 0
        && delta.text().isEmpty()
        && delta.finish() == null
        && engine.isEmpty()) {
      return;
    }
    ids.clear();
    appendIds(delta, ids);
    var own = addLogprobs(delta);
    format.part(
        frames,
        new TokenFormat.Part(
            delta.choice(), ids, delta.text(), delta.finish(), delta.stop(), own, engine),
        choices.usage());
    if (own != null) {
      own.clear();
    }
  }

  @Override
  public void silence(ByteText frames) {
    format.silence(frames);
  }

  @Override
  public void end(ByteText frames) {
    format.end(frames, options.usage() && choices.hasReason() ? choices.usage() : null);
  }

  @Override
  public void failure(DynamoException cause, ByteText frames) {
    format.failure(frames, choices.errorFor(cause));
  }
}
